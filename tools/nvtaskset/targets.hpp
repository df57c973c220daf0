// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs that partitions are for, and which TPCs of them the options name.
#pragma once

#include <vector>

#include "lib/partition/gpus.hpp"
#include "lib/partition/tasks.hpp"
#include "options.hpp"

namespace nvtaskset {

using Tpcs = std::vector<std::uint32_t>;

/// A GPU that a partition is for.
struct Target {
    Gpu gpu;
    GpuMap map;
    Tpcs tpcs;             ///< with -t or -g
    std::size_t count = 0; ///< with -s
};

/// For a COMMAND.
[[nodiscard]] Outcome<std::vector<Target>> targets_of_command(const Options &options);

/// For a task that runs: the GPUs on which it has a partition, else those that it sees.
[[nodiscard]] Outcome<std::vector<Target>> targets_of_task(const Options &options,
                                                           const Task &task);

} // namespace nvtaskset
