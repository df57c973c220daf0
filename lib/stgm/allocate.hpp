// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Cores and SMs for the tasks of a set, so that an analysis accepts it.
#pragma once

#include "analysis.hpp"

namespace stgm {

enum class Algorithm {
    mended, ///< Algorithm 1: the whole core is tested again, and the task that gains most gets the
            ///< next SM
    paper,  ///< Algorithm 1 as printed
    disjoint, ///< any two tasks' sets of SMs are disjoint or equal
};

struct Allocation {
    bool found = false;
    /// With cores and SMs, those of the last attempt if there are none that fit.
    TaskSet set;
    /// By the analysis, of `set` as it is. Algorithm::paper with Method::printed: what its line 16
    /// found.
    std::vector<Bound> bounds;
    /// Algorithm::paper found one that the analysis refuses.
    bool refused = false;
};

/// Cores and SMs that the set has already are not kept.
Allocation allocate(const TaskSet &set, const Options &options, Algorithm algorithm);

} // namespace stgm
