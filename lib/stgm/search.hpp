// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A search for schedules in which tasks have long responses.
#pragma once

#include <functional>

#include "random.hpp"
#include "simulator.hpp"

namespace stgm {

/// The free choices of a schedule, from which plan_of() makes a plan.
struct Choices {
    std::vector<Time> offset; ///< the release of each task's first job
    /// The delays, by task, of its next releases after the earliest possible ones, used in turn.
    std::vector<std::vector<Time>> later;
    /// The order of tasks if their jobs are released, or complete, at the same time.
    std::vector<std::size_t> order;
    std::uint64_t seed = 0;       ///< chooses the parts that are shorter, and their lengths
    unsigned shorter_percent = 0; ///< how many parts of jobs take less than their worst case
};

/// Returns the choices with all offsets 0, as many jobs as possible, worst cases, and tasks of
/// higher priority first.
Choices synchronous(const TaskSet &set);

/// @param until no job is released from then on
/// @param most_jobs of each task
Plan plan_of(const TaskSet &set, const Choices &choices, Time until, std::size_t most_jobs);

struct Worst {
    Time response = -1; ///< -1: no job was simulated
    Choices choices;
};

struct Found {
    std::vector<Worst> worst; ///< by task
    std::uint64_t schedules = 0, jobs = 0;
    std::vector<std::uint64_t> misses; ///< by task, the jobs that ended after their deadlines
};

struct Search {
    Waiting waiting;
    std::uint64_t schedules = 1000, seed = 1;
    Time until = 0; ///< as for plan_of(); 0: twice the longest period
    std::size_t most_jobs = 12;
    /// Is called after each schedule, and ends the search by returning true.
    std::function<bool(const Found &)> enough = nullptr;
};

/// Simulates synchronous() first, then choices at random and choices near the worst of each task.
Found search(const TaskSet &set, const Search &how);

} // namespace stgm
