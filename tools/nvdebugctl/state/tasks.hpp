// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What commands show of processes and their TSGs (nvdebug/task.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "cli/context.hpp"
#include "nvdebug/task.hpp"

namespace nvdebugctl {

/// Processes with what they have on the GPU, joined with the lists that can be read: none is no
/// failure, since those are for root and the rest is not.
[[nodiscard]] Outcome<nvdebug::OwnersOnLists> read_tasks(Context &context);

/// Columns that identify a process, before those of its TSGs.
[[nodiscard]] const std::vector<Column> &head_columns();

/// Returns the values of head_columns(). Users of a capture have no names.
[[nodiscard]] Json head_of(const Context &context, const nvdebug::Process &process);

/// In microseconds; null: not known.
[[nodiscard]] Json timeslice_of(const nvdebug::OwnersOnLists &tasks, const nvdebug::OwnedTsg &tsg);

/// Of some TSGs, each value once, in order.
[[nodiscard]] Json timeslices_of(const nvdebug::OwnersOnLists &tasks,
                                 const std::vector<nvdebug::OwnedTsg> &tsgs);

/// The values that are not null, each once, in order.
[[nodiscard]] Json distinct(const std::vector<Json> &values);

/// Where lists have TSGs; those that are in none are left out.
[[nodiscard]] std::vector<const nvdebug::RunlistPlace *>
places_of(const nvdebug::OwnersOnLists &tasks, const std::vector<nvdebug::OwnedTsg> &tsgs);

} // namespace nvdebugctl
