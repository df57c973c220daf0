// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The options of an analysis, and the bounds that it finds. The letters and the numbers of
/// equations are those of docs/stgm.md.
#pragma once

#include <array>

#include "model.hpp"

namespace stgm {

enum class Method { stgm, tight, printed, mpcp, fmlp, server, federated, timeslice };

struct MethodName {
    const char *name;
    Method method;
};
inline constexpr std::array<MethodName, 8> method_names{{{"stgm", Method::stgm},
                                                         {"stgm-tight", Method::tight},
                                                         {"stgm-printed", Method::printed},
                                                         {"mpcp", Method::mpcp},
                                                         {"fmlp", Method::fmlp},
                                                         {"server", Method::server},
                                                         {"federated", Method::federated},
                                                         {"timeslice", Method::timeslice}}};

/// The equations that are used as the paper prints them. Each of them makes the bound too small for
/// some schedule.
struct Printed {
    bool direct_sharing = false; ///< 5: only tasks that share an SM with the task itself delay it
    bool one_copy = false;       ///< 7: one copy of a segment of lower priority
    bool cpu_segments = false;   ///< 8: once for each CPU segment
    bool own_blocking = false;   ///< 9: the task's blocking in the demand of the others
    bool no_waiting = false;     ///< 11, 12: segments of lower priority do not wait
    bool copies_suspend = false; ///< 1, 3: waiting for the copy engine never takes the CPU

    static Printed all() { return {true, true, true, true, true, true}; }
};

struct Options {
    Method method = Method::stgm;
    bool busy = false; ///< tasks spin from the begin of a GPU segment to its end
    /// Tasks spin while they wait for the copy engine. Busy tasks do so anyway.
    bool spin_copies = false;
    Printed printed = {}; ///< for Method::stgm; Method::printed has all
    /// For Method::timeslice: the length of a turn, the time that a turn takes beyond it, and the
    /// time of a change to the next turn.
    Time timeslice = 1, turn_extra = 0, turn_switch = 0;
    /// For Method::server: the server's own time, which each request has twice, and its core.
    Time server_overhead = 0;
    std::uint32_t server_core = 0;
};

/// Time that one job waits for tasks other than those of higher priority on its core.
struct Blocking {
    Time copy = 0;   ///< B^m: others' copies
    Time kernel = 0; ///< B^e: others' kernels, or all that the GPU's lock or server does for others
    Time inversion = 0; ///< B^l: tasks of lower priority on the core
    Time sum() const { return add(add(copy, kernel), inversion); }
};

struct Bound {
    std::optional<Time> response; ///< empty: the task has no bound within its deadline
    Blocking blocking;
    /// Time that tasks of higher priority take. If there is no response, it is counted up to the
    /// time at which the recurrence passed the deadline.
    Time preemption = 0;
};

} // namespace stgm
