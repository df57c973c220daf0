// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The program, over GPUs that its caller opens: NVIDIA's driver has them, or a stand-in.
#pragma once

#include <string>
#include <vector>

#include "failure.hpp"
#include "gpus.hpp"

namespace nvqos {

/// Returns the exit status. Blocks the signals that end the program, and waits for them.
Exit run(const std::vector<std::string> &words, const Open &open);

} // namespace nvqos
