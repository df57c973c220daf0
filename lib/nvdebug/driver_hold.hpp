// SPDX-License-Identifier: MIT OR GPL-2.0
// Gpu::hold() through NVIDIA's driver.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver_tasks.hpp"
#include "lib/driver/kernel.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/hold.hpp"

namespace nvdebug::driver {

/// Fails as perform_request() does for the timeslices of these processes. Nothing is changed yet.
[[nodiscard]] Result<std::unique_ptr<TaskHold>> hold(const std::shared_ptr<Kernel> &kernel,
                                                     Ownership &ownership, const Card &card,
                                                     const std::vector<std::uint32_t> &pids,
                                                     const HoldOptions &options,
                                                     const ReadLists &read_lists);

} // namespace nvdebug::driver
