// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What happened in a schedule, in order, and a check that it is one of the protocol's.
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
    std::size_t job;     ///< of the task, from 0
    std::size_t segment; ///< of the job, from 0
};

/// Records of the same time are in their order.
using Trace = std::vector<Record>;

/// How tasks wait.
struct Waiting {
    bool busy = false;
    bool spin_copies = false;
};

/// `12 camera#0: copy_begin (segment 1)`, one line for each
std::string to_text(const Trace &trace, const TaskSet &set);

/// Holds a schedule against the protocol, without the simulator: work takes no longer than its
/// worst case; one task has a core, the copy engine, an SM at a time; each is given in the order of
/// requests; boosted priorities; base priorities; nothing waits for what is free.
/// @return what is wrong; empty: nothing
std::vector<std::string> check_trace(const Trace &trace, const TaskSet &set,
                                     const Waiting &waiting);

} // namespace stgm
