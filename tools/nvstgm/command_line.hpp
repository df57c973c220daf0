// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file From words to Arguments, and help, by the table of commands.
#pragma once

#include "command.hpp"

namespace nvstgm {

/// @param typed what follows the command's name
Outcome<Arguments> parse(const Command &command, const std::vector<std::string> &typed);
std::string help_of(const Command &command);
std::string help_of_all();
/// What the last word may become; nothing where a file is meant. Hidden from help: `nvstgm
/// __complete WORD…`.
std::vector<std::string> completions(const std::vector<std::string> &words);

} // namespace nvstgm
