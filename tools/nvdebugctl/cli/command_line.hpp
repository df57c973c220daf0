// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Parses a command line and checks it against the table of commands.
#pragma once

#include <string>
#include <vector>

#include "context.hpp"

namespace nvdebugctl {

/// Parses the words.
/// @param invocation is filled in as far as parsing gets, also if it fails; it refers to
/// @p objects.
[[nodiscard]] Outcome<void> parse_command_line(const std::vector<Object> &objects,
                                               std::vector<std::string> words,
                                               Invocation &invocation);

/// Returns the options that all commands share.
[[nodiscard]] const std::vector<Option> &common_options();
/// Returns all options that the command takes: its own, those of its pictures and of controls, and
/// the common options that it has a use for.
[[nodiscard]] std::vector<Option> options_of(const Command &command);

} // namespace nvdebugctl
