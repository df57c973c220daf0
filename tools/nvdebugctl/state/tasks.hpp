// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Data about processes and their TSGs that several commands show (nvdebug/task.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "cli/context.hpp"
#include "nvdebug/task.hpp"

namespace nvdebugctl {

/// Reads the processes and what they have on the GPU, joined with the lists that can be read. It
/// does not fail if no list can be read, because only root may read lists, while every user may see
/// processes.
[[nodiscard]] Outcome<nvdebug::OwnersOnLists> read_tasks(Context &context);

/// Returns the columns that identify a process. They stand before the columns of its TSGs.
[[nodiscard]] const std::vector<Column> &head_columns();

/// Returns the values of head_columns(). For a capture, users have no names. add_pod_names() adds
/// those of pods.
[[nodiscard]] Json head_of(const Context &context, const nvdebug::Process &process);

/// Adds the names of pods to rows that begin with head_of(), by the names of kubelet's files on this
/// machine. For a capture there are none.
void add_pod_names(const Context &context, Json &rows);

/// Returns the timeslice in microseconds; null: not known.
[[nodiscard]] Json timeslice_of(const nvdebug::OwnersOnLists &tasks, const nvdebug::OwnedTsg &tsg);

/// Returns the timeslices of some TSGs, each value once, in the order of the TSGs.
[[nodiscard]] Json timeslices_of(const nvdebug::OwnersOnLists &tasks,
                                 const std::vector<nvdebug::OwnedTsg> &tsgs);

/// Returns the values that are not null, each once, in their order.
[[nodiscard]] Json distinct(const std::vector<Json> &values);

/// Returns the places of the TSGs on lists. TSGs that are on no list are left out.
[[nodiscard]] std::vector<const nvdebug::RunlistPlace *>
places_of(const nvdebug::OwnersOnLists &tasks, const std::vector<nvdebug::OwnedTsg> &tsgs);

} // namespace nvdebugctl
