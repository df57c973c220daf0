// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What is shown of tasks and their partitions, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/partition/gpus.hpp"
#include "lib/partition/tasks.hpp"
#include "options.hpp"

namespace nvtaskset {

/// A task's partition on a GPU, its launches that should have had one, or its limit of launches.
struct ShownPartition {
    const Slot *slot;
    Setting setting;
    const Gate *gate; ///< nullptr: no launch was limited
};

/// Empty: the task has none of them on that GPU.
[[nodiscard]] std::optional<ShownPartition> shown(const Task &task, const Uuid &uuid);

/// What a task has on a GPU, in words.
[[nodiscard]] std::string describe(const GpuMap &map, const State &state,
                                   const ShownPartition &shown);

/// `process 4711 (load): kept to the partition`
[[nodiscard]] std::string line_of(const Process &process, const State &state);

using Maps = std::vector<std::pair<Gpu, GpuMap>>;

/// Of the GPUs that are awake and can be read; the others are named on standard error. @p exit
/// becomes `partial` if a GPU could not be read.
[[nodiscard]] Outcome<Maps> maps_of(const Options &options, Exit &exit);

/// Prints the document of the GPUs, with those of @p tasks that have a partition there, or should.
Exit print_json(const Maps &maps, const std::vector<const Task *> &tasks, Exit exit);

} // namespace nvtaskset
