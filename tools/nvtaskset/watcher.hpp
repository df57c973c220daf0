// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A process beside the command that names processes which use the GPU and are not kept to
/// the partition.
#pragma once

#include <optional>

#include "lib/partition/page.hpp"

namespace nvtaskset {

/// Starts it for the command that this process becomes; it ends with the command. CUDA gives no
/// sign where it does not load the library. The command never waits for it: it is a child of init's
/// or, where the command is init or adopts the orphans among its descendants, one of the command's
/// that wait() does not see. It keeps standard error, and no part of the task: no page, lock, pipe
/// or folder.
void watch(std::optional<Page> &page);

} // namespace nvtaskset
