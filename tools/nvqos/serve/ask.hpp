// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `nvqos status` and `nvqos list` print the answers of a running nvqos.
#pragma once

#include "lib/cli/parse.hpp"
#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// Prints the goals that are kept and what came of them in the last second. Returns Exit::partial
/// if a goal was not kept or a GPU is left out; fails with Exit::failed if no nvqos answers.
Outcome<Exit> print_status(const nvdebug::cli::Arguments &arguments);
/// Prints the tenants with their processes, and what each got since its goal is kept.
Outcome<Exit> print_list(const nvdebug::cli::Arguments &arguments);

} // namespace nvqos
