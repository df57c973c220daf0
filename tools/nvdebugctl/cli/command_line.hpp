// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A command line, parsed and checked against the table.
#pragma once

#include <string>
#include <vector>

#include "context.hpp"

namespace nvdebugctl {

/// @param invocation is filled in as far as it goes, also when it fails; refers to @p objects.
[[nodiscard]] Outcome<void> parse_command_line(const std::vector<Object> &objects,
                                               std::vector<std::string> words,
                                               Invocation &invocation);

/// Options that are not a command's own.
[[nodiscard]] const std::vector<Option> &common_options();
/// Those that the command takes: its own, of pictures, of controls, then common ones.
[[nodiscard]] std::vector<Option> options_of(const Command &command);

} // namespace nvdebugctl
