// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How much longer the work of a set may take until a deadline may be missed, by the bounds
/// of an analysis. All bounds grow with each time in the set, so that the longest time is found by
/// bisection: with at most 50 analyses for a part.
#pragma once

#include <span>

#include "analysis.hpp"

namespace stgm {

/// A part of a segment that has a time of its own.
enum class Part { cpu, to_device, kernel, from_device };

/// The longest time that one part may take while all other times stay as they are.
struct Room {
    std::size_t task, segment;
    Part part;
    Time length; ///< in the set; of a kernel on the task's SMs
    /// The set is schedulable up to this time; empty: at no time.
    std::optional<Time> most = {};
    /// The first task in the file without a bound if the part takes longer.
    std::size_t first = 0;
};

/// Returns how many parts the segments of a task have.
std::size_t parts_of(const Task &task);

/// Returns the room of each part of @p tasks, which are places in the set. The set is allocated, as
/// for analyse().
std::vector<Room> rooms(const TaskSet &set, const Options &options,
                        std::span<const std::size_t> tasks);

/// The largest factor that growth() tries.
inline constexpr Time most_growth = 1'000'000;

/// Returns the largest factor, in thousandths, by which all times of segments may be multiplied at
/// once, rounded up, such that the set is schedulable; empty: none, not even 0.
std::optional<Time> growth(const TaskSet &set, const Options &options);

} // namespace stgm
