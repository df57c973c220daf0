// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The protocol itself, event by event: what really happens in one schedule. Knows nothing of
/// the analyses.
#pragma once

#include "trace.hpp"

namespace stgm {

struct Job {
    std::size_t task;
    Time release;
    /// How long each part takes: one of a CPU segment; copy, kernel, copy of a GPU segment.
    std::vector<Time> parts;
};

/// A schedule's choices.
struct Plan {
    /// By time; those of the same time are released one after the other, and the core is given out
    /// in between.
    std::vector<Job> jobs;
    /// Tasks: what completes at the same time does so in this order.
    std::vector<std::size_t> order;
};

/// A simulator that is wrong, to see that it is noticed.
enum class Fault { none, kernel_order, copy_order, boost_order, no_boost, idle_copies };

/// Parts of the task's job at its number of SMs, all at their worst case.
std::vector<Time> worst_parts(const Task &task, std::size_t all_sms);

/// All tasks of the set have a core, and SMs if they use the GPU.
/// @return the response of each job, in the order of the plan
std::vector<Time> simulate(const TaskSet &set, const Waiting &waiting, const Plan &plan,
                           Trace *trace = nullptr, Fault fault = Fault::none);

} // namespace stgm
