// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "lib/partition/outcome.hpp"
#include "options.hpp"

namespace nvtaskset {

/// Replaces nvtaskset by the COMMAND, which has its partitions from the start. Returns only on
/// failure.
Exit run_command(const Options &options);

} // namespace nvtaskset
