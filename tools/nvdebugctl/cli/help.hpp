// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Help, as text and for programs.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> help_commands();

/// Returns the help of the tool, of an object, or of a command. nullptr: it was not named.
[[nodiscard]] std::string help_text(const std::vector<Object> &objects, const Object *object,
                                    const Command *command);
/// Returns the usage that is printed if no word was typed.
[[nodiscard]] std::string short_usage(const std::vector<Object> &objects);
[[nodiscard]] std::string columns_help(const Command &command);
/// Returns the form of a command line: `runlist show RUNLIST [--brief]`.
[[nodiscard]] std::string synopsis(const Command &command);

} // namespace nvdebugctl
