// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `nvqos simulate` shows what goals would do, without a GPU.
#pragma once

#include "failure.hpp"
#include "lib/cli/parse.hpp"

namespace nvqos {

/// Runs the scenario in the file that is named, and prints what each job got. Returns Exit::partial
/// if a goal was not kept, and Exit::refused, after the output, if the goals cannot be kept.
Outcome<Exit> simulate(const nvdebug::cli::Arguments &arguments);

} // namespace nvqos
