// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A trace of a schedule, and a check that the schedule follows the protocol.
#pragma once

#include <string>
#include <vector>

#include "taskset.hpp"
#include "what.hpp"

namespace stgm {

const char *name_of(What what);

struct Record {
    Time at;
    What what;
    std::size_t task;
    std::size_t job;     ///< number of the task's job, from 0
    std::size_t segment; ///< number of the job's segment, from 0
};

/// Records by time. Records of the same time are in the order in which they happened.
using Trace = std::vector<Record>;

/// Whether tasks keep their core while they wait, as in Options.
struct Waiting {
    bool busy = false;
    bool spin_copies = false;
};

/// Returns a line for each record: `12 camera#0: copy_begin (segment 1)`.
std::string to_text(const Trace &trace, const TaskSet &set);

/// Checks a schedule against the rules of the protocol, without code of the simulator:
/// * Work takes no longer than its worst case.
/// * A core, the copy engine and an SM each have one task at a time.
/// * The copy engine and SMs are given in the order of requests.
/// * The task with the core has the highest priority, with boosted tasks before all others.
/// * No task waits for something that is free.
/// @return a sentence for each violation
std::vector<std::string> check_trace(const Trace &trace, const TaskSet &set,
                                     const Waiting &waiting);

} // namespace stgm
