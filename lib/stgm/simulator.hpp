// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A simulation of the protocol, event by event, in one schedule. It shares no code with the
/// analyses, so that it can be held against them.
#pragma once

#include "trace.hpp"

namespace stgm {

struct Job {
    std::size_t task;
    Time release;
    /// The length of each part: a CPU segment has one; a GPU segment has a copy, a kernel, a copy.
    std::vector<Time> parts;
};

/// The releases, lengths and order that decide a schedule.
struct Plan {
    /// Jobs by time. Jobs of the same time are released one after the other, and the core is
    /// dispatched after each.
    std::vector<Job> jobs;
    /// The order of tasks if their work completes at the same time.
    std::vector<std::size_t> order;
};

/// Faults that a test plants in the simulator, to see that check_trace() notices them.
enum class Fault { none, kernel_order, copy_order, boost_order, no_boost, idle_copies };

/// Returns the worst-case parts of a job at the task's number of SMs, or @p all_sms if it has none.
std::vector<Time> worst_parts(const Task &task, std::size_t all_sms);

/// Simulates the plan, and returns the response of each job in the order of the plan.
/// @param set all tasks have a core, and SMs if they use the GPU
std::vector<Time> simulate(const TaskSet &set, const Waiting &waiting, const Plan &plan,
                           Trace *trace = nullptr, Fault fault = Fault::none);

} // namespace stgm
