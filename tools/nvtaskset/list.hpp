// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "lib/partition/outcome.hpp"
#include "options.hpp"

namespace nvtaskset {

/// Prints the TPCs of all GPUs, and the tasks that have them.
Exit list_tasks(const Options &options);

} // namespace nvtaskset
