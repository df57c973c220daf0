// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Jobs on several GPUs that have to share two or more of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nvdebug/gpu.hpp"
#include "nvdebug/jobs.hpp"

namespace nvdebugctl {

/// Returns `train[4711]` or `train[4711] (4 processes)`.
[[nodiscard]] std::string name_of(const nvdebug::MeasuredJob &job);

/// Jobs that use the same GPUs.
struct SharedGpus {
    std::vector<std::uint32_t> gpus; ///< at least two
    std::vector<std::size_t> jobs;   ///< numbers of at least two jobs
};
/// Returns for each set of GPUs that two jobs have in common which jobs use it.
[[nodiscard]] std::vector<SharedGpus> shared_gpus(const std::vector<nvdebug::MeasuredJob> &jobs);

/// Measures the jobs on several GPUs by the driver's record of context switches. Measures nothing if
/// no two jobs with channels share two GPUs. A GPU that does not answer is left out.
/// @param length how long the record is
[[nodiscard]] std::vector<nvdebug::MeasuredJob>
measure_shared_jobs(const std::vector<nvdebug::Gpu> &gpus, std::chrono::milliseconds length);

} // namespace nvdebugctl
