// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tasks that compete for a GPU, and the share that timeslices give to each.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

struct GpuTasks {
    Json tasks;                         ///< as `gpuTask` of the schemas; null: not known
    std::vector<std::string> notes;     ///< what takes other rights
    std::vector<nvdebug::Error> errors; ///< what could not be read
};

/// Reads the tasks on GR0's runlist, those with the largest share first: processes, or TSGs where
/// no process of them is known; then processes that are on no such list, or where it may not be
/// read. Keeps nothing.
[[nodiscard]] nvdebug::Result<GpuTasks> read_gpu_tasks(const nvdebug::Gpu &gpu);

} // namespace nvdebugctl
