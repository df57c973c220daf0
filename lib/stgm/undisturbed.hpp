// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which jobs of a run a bound is about.
#pragma once

#include <span>

#include "trace.hpp"

namespace stgm {

/// Jobs of one task.
struct Undisturbed {
    std::uint64_t jobs = 0;
    Time response = 0;       ///< the largest
    std::uint64_t above = 0; ///< with a response above the bound
};

/// A bound holds as long as all work takes no longer than in the file. A job counts here if none
/// took longer, and no task was kept from its CPU, from the last moment before its release at which
/// no job was pending to the first such moment after it: what happened in other such intervals
/// cannot reach it.
/// @param trace by time
/// @param bounds of the tasks, in the unit of the trace; empty: nothing is above it
std::vector<Undisturbed> undisturbed(const Trace &trace,
                                     std::span<const std::optional<Time>> bounds);

} // namespace stgm
