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

    enum class Verb { hold, release, report, list, status } verb;
    std::string name = {}; ///< of the tenant; empty with Verb::list and Verb::status

    // With Verb::hold:
    qos::Goal goal = {};
    std::optional<bool> is_gang = {};     ///< Tenant::is_gang; empty: true
    std::vector<std::string> gpus = {};   ///< names, as add_gpus() takes them; empty: all
    std::vector<std::uint32_t> pids = {}; ///< roots: their descendants belong to the tenant, too
    std::vector<std::string> cgroups = {};
    std::optional<std::uint32_t> holder = {}; ///< its end releases the tenant
};

/// @param line without its newline; any bytes. Fails with Exit::bad_usage and a sentence.
Outcome<Request> parse_request(std::string_view line);

} // namespace nvqos
