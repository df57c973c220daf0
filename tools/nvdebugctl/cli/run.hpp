// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace nvdebugctl {

/// Runs a command line and prints its result.
/// @return the exit status
int run(const std::vector<Object> &objects, std::vector<std::string> words);

} // namespace nvdebugctl
