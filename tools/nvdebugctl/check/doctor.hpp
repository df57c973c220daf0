// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `doctor` judges the facts of the machine and names a fix for each problem.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "finding.hpp"
#include "state/machine_facts.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> doctor_commands();

/// Judges the facts. The findings that are easiest to mend come first.
[[nodiscard]] std::vector<Finding> findings_about(const Machine &machine);

} // namespace nvdebugctl
