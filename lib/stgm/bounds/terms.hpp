// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The terms that all analyses share. The letters and the equations are those of
/// docs/stgm.md; "eq. 7, mended" is the sound form of the paper's equation 7.
#pragma once

#include "lib/stgm/bound.hpp"

namespace stgm {

/// How long one job of a task waits for the GPU, and how much it demands of its core.
struct Waits {
    Time copies = 0, each_copy = 0;    ///< B^m; the wait of one copy
    Time kernels = 0, each_kernel = 0; ///< B^e; the longest wait of one kernel
    Time demand = 0;                   ///< E: time that tasks of lower priority lose to one job
    bool none = false;                 ///< the task has no bound, whatever the other terms are
};

/// The data from which all analyses compute: the model, the options of the method, and sums over
/// all tasks.
struct Terms {
    const Model &model;
    Options options;
    bool spins = false;                  ///< tasks that suspend wait for the copy engine on the CPU
    Time all_copies = 0;                 ///< Σ m*
    std::vector<Time> copy_of_core = {}; ///< the longest m* of each core
    Time copies_of_cores = 0;            ///< Σ of copy_of_core, and m* of each task without a core

    /// Computes the sums for the present cores of the tasks.
    void sum_copies();
    /// Returns R of eq. 1, 3 and 4: one longest copy of each other core.
    Time copies_of_other_cores(std::size_t task) const;
    /// Returns E_h, the demand of one job in eq. 1 and 9.
    Time demand(std::size_t task, const Waits &waits) const;
};

/// Returns @p sum less @p part, which is one of its addends; an endless sum stays endless.
constexpr Time without(Time sum, Time part) {
    return sum == endless ? endless : sum - part;
}

} // namespace stgm
