// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Requests over the socket, each of them a line (docs/qos.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/nvqos/goals.hpp"

namespace nvqos {

struct Request {
    static constexpr std::size_t longest = 4096; ///< bytes, with the newline

    enum class Verb { hold, join, release, report, list, status, gpus, watch } verb;
    std::string name = {};    ///< of the tenant; empty with the last four verbs
    bool wants_words = false; ///< with Verb::report: an answer for programs

    // With Verb::hold and Verb::join:
    qos::Goal goal = {};
    std::optional<Gang> gang = {};        ///< empty: Gang::on
    std::string goal_word = {};           ///< the goal as it was asked for: `share:30%,cap:50%`
    std::vector<std::string> gpus = {};   ///< names, as add_gpus() takes them; empty: all
    std::vector<std::uint32_t> pids = {}; ///< roots: their descendants belong to the tenant, too
    std::vector<std::string> cgroups = {};
    std::optional<std::uint32_t> holder =
        {}; ///< its end releases the tenant; there with Verb::join
};

/// Returns whether the text can be a tenant's name.
bool is_tenant_name(std::string_view text);

/// @param line without its newline; any bytes. Fails with Exit::bad_usage and a sentence.
Outcome<Request> parse_request(std::string_view line);

} // namespace nvqos
