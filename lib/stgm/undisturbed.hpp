// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The jobs of a run for which the bounds hold.
#pragma once

#include <span>

#include "trace.hpp"

namespace stgm {

/// The undisturbed jobs of one task.
struct Undisturbed {
    std::uint64_t jobs = 0;
    Time response = 0;       ///< their largest response
    std::uint64_t above = 0; ///< jobs with a response above the bound
};

/// Returns the jobs that were not disturbed. A bound holds as long as all work takes no longer than
/// in the file, and no task is kept from its CPU. A job counts as undisturbed if that was so from
/// the last moment before its release at which no job was pending to the first such moment after
/// it. Disturbances in other such intervals cannot delay the job.
/// @param trace by time
/// @param bounds of the tasks, in the unit of the trace. No job is above an empty bound.
std::vector<Undisturbed> undisturbed(const Trace &trace,
                                     std::span<const std::optional<Time>> bounds);

} // namespace stgm
