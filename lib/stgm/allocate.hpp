// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Cores and SMs for the tasks of a set, so that an analysis accepts it.
#pragma once

#include "analysis.hpp"

namespace stgm {

enum class Algorithm {
    /// Algorithm 1, mended: it tests the whole core again after placing a task, and gives the next
    /// SM to the task that gains most.
    mended,
    paper,    ///< Algorithm 1 as printed
    disjoint, ///< any two tasks' sets of SMs are disjoint or equal
};

struct Allocation {
    bool found = false;
    /// The set with cores and SMs. If none fit, they are those of the last attempt.
    TaskSet set;
    /// The analysis of `set`. With Algorithm::paper and Method::printed, the bounds with which line
    /// 16 accepted the tasks.
    std::vector<Bound> bounds;
    /// Algorithm::paper found an allocation that the analysis refuses.
    bool refused = false;
};

/// Allocates cores and SMs for all tasks, and ignores the cores and SMs in the set.
Allocation allocate(const TaskSet &set, const Options &options, Algorithm algorithm);

} // namespace stgm
