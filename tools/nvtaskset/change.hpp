// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "lib/partition/outcome.hpp"
#include "options.hpp"

namespace nvtaskset {

/// Changes what the task of a process has, or shows it where the options name no change.
Exit change_task(const Options &options);

} // namespace nvtaskset
