// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The table of nvtaskset's options. Parsing, --help, completion and the OPTIONS of
/// nvtaskset(1) are made from it.
#pragma once

#include "lib/cli/table.hpp"

namespace nvtaskset {

[[nodiscard]] const nvdebug::cli::Program &program();

} // namespace nvtaskset
