// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The table of nvtaskset's options, from which parsing, --help, completion and the OPTIONS
/// of nvtaskset(1) are made.
#pragma once

#include "lib/cli/table.hpp"

namespace nvtaskset {

[[nodiscard]] const nvdebug::cli::Program &program();

} // namespace nvtaskset
