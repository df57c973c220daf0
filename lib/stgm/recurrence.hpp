// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The recurrence by which all analyses find response times.
#pragma once

#include <optional>
#include <span>

#include "time.hpp"

namespace stgm {

/// Demand that comes to a core with each period.
struct Source {
    Time demand, period, jitter;
};

/// Returns the least W with W = base + Σ ⌈(max(W, window_min) + jitter) / period⌉ demand.
/// @param last is set to the W that passed the deadline, if the function returns none
std::optional<Time> least_response(Time base, std::span<const Source> sources, Time deadline,
                                   Time window_min, Time *last = nullptr);

} // namespace stgm
