// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "lib/partition/outcome.hpp"
#include "options.hpp"

namespace nvtaskset {

/// Changes the partition or the limit of a process' task, or shows them if the options name no
/// change.
Exit change_task(const Options &options);

} // namespace nvtaskset
