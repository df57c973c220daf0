// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The program, over GPUs that its caller opens: NVIDIA's driver has them, or a stand-in.
#pragma once

#include <string>
#include <vector>

#include "failure.hpp"
#include "gpus.hpp"
#include "tools/nvqos/keep/node_clock.hpp"

namespace nvqos {

/// Returns the exit status. Blocks the signals that end the program, and waits for them.
/// @param clock the clock of this node, for tenants with tasks on other nodes
Exit run(const std::vector<std::string> &words, const Open &open, const NodeClock &clock = {});

} // namespace nvqos
