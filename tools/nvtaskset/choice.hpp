// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which TPCs of the targets a task gets beside the other tasks.
#pragma once

#include <vector>

#include "targets.hpp"

namespace nvtaskset {

/// A partition on each target, of the TPCs that @p others leave where the options demand it.
[[nodiscard]] Outcome<std::vector<Partition>> chosen_partitions(const Options &options,
                                                                const std::vector<Target> &targets,
                                                                const std::vector<Task> &others);

} // namespace nvtaskset
