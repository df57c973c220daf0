// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A process beside the command that warns of processes which use the GPU and are not kept to
/// the partition. CUDA itself gives no sign if it does not load the library.
#pragma once

#include <optional>

#include "lib/partition/page.hpp"

namespace nvtaskset {

/// Starts the watcher for the command that this process becomes. The watcher ends with the command,
/// and the command's wait() never sees it: it is a child of init or, if the command is init or
/// adopts orphans, a child that is hidden from wait(). It keeps standard error open, but no page,
/// lock, pipe or folder of the task.
void watch(std::optional<Page> &page);

} // namespace nvtaskset
