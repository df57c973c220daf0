// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `doctor`: what the facts of the machine mean, and what to do.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "finding.hpp"
#include "state/machine_facts.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> doctor_commands();

/// What the facts mean, in the order in which to mend things.
[[nodiscard]] std::vector<Finding> findings_about(const Machine &machine);

} // namespace nvdebugctl
