// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Schedules that are bad for a task, looked for among many.
#pragma once

#include <functional>

#include "random.hpp"
#include "simulator.hpp"

namespace stgm {

/// From which a plan is made.
struct Choices {
    std::vector<Time> offset; ///< of each task's first job
    std::vector<std::vector<Time>>
        later; ///< of each task: how much later than possible its next jobs come, in turn
    std::vector<std::size_t>
        order; ///< tasks: of those at once, the earlier one is released and completes first
    std::uint64_t seed = 0;       ///< of what follows
    unsigned shorter_percent = 0; ///< of the parts of jobs: they take less than the worst case
};

/// All at once at 0, as often as possible, at the worst case; those of higher priority first.
Choices synchronous(const TaskSet &set);

/// @param until no job is released from then on; of a task no more than @p most_jobs
Plan plan_of(const TaskSet &set, const Choices &choices, Time until, std::size_t most_jobs);

struct Worst {
    Time response = -1; ///< none: -1
    Choices choices;
};

struct Found {
    std::vector<Worst> worst; ///< of each task
    std::uint64_t schedules = 0, jobs = 0;
    std::vector<std::uint64_t> misses; ///< of each task: jobs that ended after their deadlines
};

struct Search {
    Waiting waiting;
    std::uint64_t schedules = 1000, seed = 1;
    Time until = 0; ///< as of plan_of(); 0: twice the longest period
    std::size_t most_jobs = 12;
    /// Asked after each schedule; true ends the search.
    std::function<bool(const Found &)> enough = nullptr;
};

/// The first schedule is synchronous(); then some at random, and some near the worst of each task.
Found search(const TaskSet &set, const Search &how);

} // namespace stgm
