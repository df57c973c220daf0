// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs on which a task gets partitions, and the TPCs that the options name there.
#pragma once

#include <vector>

#include "lib/partition/gpus.hpp"
#include "lib/partition/tasks.hpp"
#include "options.hpp"

namespace nvtaskset {

using Tpcs = std::vector<std::uint32_t>;

/// A GPU on which a task gets a partition.
struct Target {
    Gpu gpu;
    GpuMap map;
    Tpcs tpcs;             ///< the TPCs of -t or -g
    std::size_t count = 0; ///< the number of TPCs for -s
};

/// Returns the targets of a COMMAND.
[[nodiscard]] Outcome<std::vector<Target>> targets_of_command(const Options &options);

/// Returns the targets of a running task: GPUs with a partition of the task, or else all that it
/// sees.
[[nodiscard]] Outcome<std::vector<Target>> targets_of_task(const Options &options,
                                                           const Task &task);

} // namespace nvtaskset
