// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The protocol's priorities as levels of SCHED_FIFO.
#pragma once

#include "taskset.hpp"

namespace stgm {

/// Larger goes first; equals take turns, FIFO.
struct Levels {
    int base;
    int boosted; ///< in a GPU segment: the same for all tasks
    /// While a kernel waits, runs and completes with the CPU free: above the boosted ones, as
    /// the protocol has the GPU start the next kernel by itself, and here the task's process
    /// permits it. It takes microseconds.
    int launching;
};

/// Linux has 1 to 99.
inline constexpr int lowest_level = 10;
inline constexpr std::size_t most_levels = 64;

/// In the order of the set, which has most_levels tasks at most.
inline std::vector<Levels> levels_of(const TaskSet &set) {
    const int tasks = static_cast<int>(set.tasks.size());
    std::vector<Levels> levels;
    for (const std::size_t rank : ranks(set))
        levels.push_back({lowest_level + tasks - 1 - static_cast<int>(rank), lowest_level + tasks,
                          lowest_level + tasks + 1});
    return levels;
}

} // namespace stgm
