// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A program that is run for its output.
#pragma once

#include "command.hpp"

namespace nvstgm {

/// Its stdout, of at most 16 MiB; its stderr is nvstgm's. Fails if it cannot be run, or ends with
/// another status than 0. Looked up in PATH.
Answer<std::string> output_of(const std::vector<std::string> &words);

} // namespace nvstgm
