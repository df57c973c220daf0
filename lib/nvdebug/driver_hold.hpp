// SPDX-License-Identifier: MIT OR GPL-2.0
// Gpu::hold() and Gpu::hold_each() through NVIDIA's driver.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver_tasks.hpp"
#include "lib/driver/kernel.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/hold.hpp"

namespace nvdebug::driver {

/// Prepares a hold for each group of processes, after one search for all. The hold of a group fails
/// as perform_request() does for timeslices of its processes. All fail if the search fails. No task
/// is changed yet.
[[nodiscard]] Result<TaskHolds> hold(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                     const Card &card,
                                     const std::vector<std::vector<std::uint32_t>> &groups,
                                     const HoldOptions &options, const ReadLists &read_lists);

} // namespace nvdebug::driver
