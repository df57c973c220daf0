// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Running a program for its output.
#pragma once

#include "command.hpp"

namespace nvstgm {

/// Runs a program, found in PATH, and returns its stdout, of at most 16 MiB. Its stderr is
/// nvstgm's. Fails if the program cannot be run, or ends with another status than 0.
Answer<std::string> output_of(const std::vector<std::string> &words);

} // namespace nvstgm
