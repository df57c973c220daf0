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

/// Of each group of processes one hold, after one search. A group's fails as perform_request() does
/// for the timeslices of its processes, and all do if the search fails. Nothing is changed yet.
[[nodiscard]] Result<TaskHolds> hold(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                     const Card &card,
                                     const std::vector<std::vector<std::uint32_t>> &groups,
                                     const HoldOptions &options, const ReadLists &read_lists);

} // namespace nvdebug::driver
