// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The options --interval and --count: how often a live view shows something, and how many
/// times.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "cli/context.hpp"

namespace nvdebugctl {

struct Pace {
    std::chrono::milliseconds interval;
    std::optional<std::uint64_t> count = {}; ///< nullopt: until interrupted
};

/// Reads the options.
/// @param usual the interval without --interval
/// @param shortest the shortest interval that is accepted
/// @param counted the things that --count counts, for messages: `samples`
[[nodiscard]] Outcome<Pace> pace_of(const Context &context, std::chrono::milliseconds usual,
                                    std::chrono::milliseconds shortest, const char *counted);

} // namespace nvdebugctl
