// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> watch_commands();

} // namespace nvdebugctl
