// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The choice of TPCs for a task beside other tasks.
#pragma once

#include <vector>

#include "targets.hpp"

namespace nvtaskset {

/// Returns a partition on each target. It avoids TPCs of @p others as far as the options demand it.
[[nodiscard]] Outcome<std::vector<Partition>> chosen_partitions(const Options &options,
                                                                const std::vector<Target> &targets,
                                                                const std::vector<Task> &others);

} // namespace nvtaskset
