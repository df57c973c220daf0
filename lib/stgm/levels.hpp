// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The protocol's priorities as levels of SCHED_FIFO.
#pragma once

#include "taskset.hpp"

namespace stgm {

/// The levels of one task. A larger level goes first; tasks of equal levels take turns, FIFO.
struct Levels {
    int base;
    int boosted; ///< in a GPU segment: the same for all tasks
    /// The level while a kernel waits, runs and completes with the CPU free. It is above the
    /// boosted level because the task's process has to let the next kernel start, for which the
    /// protocol takes no CPU. That takes microseconds.
    int launching;
};

/// Levels for sets are within 1 to 99, those of SCHED_FIFO on Linux.
inline constexpr int lowest_level = 10;
inline constexpr std::size_t most_levels = 64;

/// Returns the levels of the tasks in the order of the set, which has at most most_levels tasks.
inline std::vector<Levels> levels_of(const TaskSet &set) {
    const int tasks = static_cast<int>(set.tasks.size());
    std::vector<Levels> levels;
    for (const std::size_t rank : ranks(set))
        levels.push_back({lowest_level + tasks - 1 - static_cast<int>(rank), lowest_level + tasks,
                          lowest_level + tasks + 1});
    return levels;
}

} // namespace stgm
