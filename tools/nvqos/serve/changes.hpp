// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What changes for a program that watches nvqos: tenants that come and go, GPUs that are left
/// out, and goals that are kept or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "held_tenants.hpp"

namespace nvqos {

/// The state in which changes are looked for.
struct WatchedState {
    /// By GPU: why goals are not kept on it; nullopt: they are kept.
    std::map<std::uint32_t, std::optional<std::string>> gpus = {};
    /// By GPU and tenant: kept() of the last report.
    std::map<std::pair<std::uint32_t, std::string>, std::optional<bool>> kept = {};
    /// The goals of the command line and the file, by tenant.
    std::map<std::string, std::string> own = {};
};

/// Collects changes as lines of JSON (schema nvqos.change.json) while anybody watches.
class Changes {
  public:
    bool is_watched() const { return is_watched_; }
    /// Begins, unless a connection watches already. Changes are those since @p now.
    void begin(WatchedState now);
    void end();

    void add_held(const HeldTenant &tenant);
    /// @param what `released`, by a request, or `ended`, with its holders or processes
    void add_end(const char *what, const std::string &name);
    /// Adds what differs from the last state.
    void compare(WatchedState now);
    /// Returns the lines since the last call, each with a newline.
    std::string take() { return std::exchange(lines_, {}); }

  private:
    bool is_watched_ = false;
    WatchedState last_;
    std::string lines_;
};

} // namespace nvqos
