// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Watches GPUs by their switches, and changes nothing.
#pragma once

#include <vector>

#include "lib/qos/goal.hpp"
#include "lib/simulation/watched.hpp"
#include "tools/nvqos/gpus.hpp"

namespace nvqos {

/// Passes the turns of the next @p length to @p watched. A GPU that cannot be watched is left out
/// with a warning. Fails if no GPU can be watched.
/// @param names the GPUs; empty: all
Outcome<void> watch(const Open &open, const std::vector<std::string> &names, qos::Ns length,
                    simulation::Watched &watched);

} // namespace nvqos
