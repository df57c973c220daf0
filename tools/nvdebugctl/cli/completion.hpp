// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Completion for shells.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> completion_commands();

/// Hidden from help: `nvdebugctl __complete -- WORD…`, the last one being typed.
inline constexpr const char *complete_verb = "__complete";

/// Prints one candidate a line; nothing where nothing is known, and never an error.
int complete(const std::vector<Object> &objects, const std::vector<std::string> &words,
             Output &output);

} // namespace nvdebugctl
