// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tasks that compete for a GPU, and the share that timeslices give to each task.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

struct GpuTasks {
    Json tasks;                         ///< array of `gpuTask` of the schemas; null: not known
    std::vector<std::string> notes;     ///< sentences about what this user may not read
    std::vector<nvdebug::Error> errors; ///< errors of other reads that failed
};

/// Reads the tasks on GR0's runlist, with the largest share first. A task is a process, or a TSG if
/// none of its processes is known. Then follow the processes that are not on GR0's runlist, or all
/// processes if the list may not be read. Keeps no state.
[[nodiscard]] nvdebug::Result<GpuTasks> read_gpu_tasks(const nvdebug::Gpu &gpu);

} // namespace nvdebugctl
