// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `nvqos advise` tries goals for the running tasks in a simulation.
#pragma once

#include "lib/cli/parse.hpp"
#include "tools/nvqos/gpus.hpp"

namespace nvqos {

/// Watches the running tasks, or reads a recording of nvdebugctl, makes a scenario of them, and
/// prints what goals would do. It changes nothing on the GPUs.
Outcome<Exit> advise(const nvdebug::cli::Arguments &arguments, const Open &open);

} // namespace nvqos
