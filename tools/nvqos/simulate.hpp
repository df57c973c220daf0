// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `nvqos simulate`: what goals would do, without a GPU.
#pragma once

#include <string>
#include <vector>

#include "failure.hpp"

namespace nvqos {

/// Returns whether the words of a command line are for simulate(): the command itself, its help, or
/// its completion.
bool is_simulation(const std::vector<std::string> &words);

/// Returns the exit status.
Exit simulate(const std::vector<std::string> &words);

} // namespace nvqos
