// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file `nvqos simulate` shows what goals would do, without a GPU.
#pragma once

#include <optional>
#include <string>

#include "failure.hpp"
#include "lib/cli/parse.hpp"
#include "lib/simulation/scenario.hpp"

namespace nvqos {

/// Runs the scenario in the file that is named, and prints what each job got. Returns Exit::partial
/// if a goal was not kept, and Exit::refused, after the output, if the goals cannot be kept.
Outcome<Exit> simulate(const nvdebug::cli::Arguments &arguments);

/// Returns why nvqos would refuse the goals of the scenario: on the first GPU where it would, or
/// because gangs never run at the same time. Empty: it would accept them, or the scenario has no
/// control.
std::optional<std::string> refusal_of(const simulation::Scenario &scenario);

} // namespace nvqos
