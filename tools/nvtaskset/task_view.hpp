// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Tasks and their partitions as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/partition/gpus.hpp"
#include "lib/partition/tasks.hpp"
#include "options.hpp"

namespace nvtaskset {

/// The facts of a task on a GPU: its partition, launches that should have had one, and its limit.
struct ShownPartition {
    const Slot *slot;
    Setting setting;
    const Gate *gate; ///< nullptr: there was no limit of launches
};

/// Returns the facts of a task on a GPU, or nullopt if there are none.
[[nodiscard]] std::optional<ShownPartition> shown(const Task &task, const Uuid &uuid);

/// Describes the facts of a task on a GPU in words.
[[nodiscard]] std::string describe(const GpuMap &map, const State &state,
                                   const ShownPartition &shown);

/// Returns a line as `process 4711 (load): kept to the partition`.
[[nodiscard]] std::string line_of(const Process &process, const State &state);

using Maps = std::vector<std::pair<Gpu, GpuMap>>;

/// Returns the maps of the GPUs of `--gpu`, or else of all that are awake. GPUs that are asleep or
/// cannot be read are named on standard error. Sets @p exit to `partial` if a GPU could not be read.
[[nodiscard]] Outcome<Maps> maps_of(const Options &options, Exit &exit);

/// Prints the JSON document of the GPUs and of the tasks that have a partition there, or should.
Exit print_json(const Maps &maps, const std::vector<const Task *> &tasks, Exit exit);

} // namespace nvtaskset
