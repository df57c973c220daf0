// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Completion for shells.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> completion_commands();

/// The verb that shells call: `nvdebugctl __complete -- WORD…`, where the last word is being typed.
/// Help does not show it.
inline constexpr const char *complete_verb = "__complete";

/// Prints one candidate a line. If nothing is known, it prints nothing. It never prints an error.
int complete(const std::vector<Object> &objects, const std::vector<std::string> &words,
             Output &output);

} // namespace nvdebugctl
