// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Help, as text and for programs.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> help_commands();

/// Of the tool, of an object, or of a command; what is nullptr was not named.
[[nodiscard]] std::string help_text(const std::vector<Object> &objects, const Object *object,
                                    const Command *command);
/// What is printed where no word was typed.
[[nodiscard]] std::string short_usage(const std::vector<Object> &objects);
[[nodiscard]] std::string columns_help(const Command &command);
/// `runlist show RUNLIST [--brief]`
[[nodiscard]] std::string synopsis(const Command &command);

} // namespace nvdebugctl
