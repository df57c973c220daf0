// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The program nvqos of the node, which container runtimes run as a hook.
#pragma once

#include "failure.hpp"
#include "lib/cli/parse.hpp"

namespace nvdebug::kubernetes {

/// Returns the options --nvqos and --copy-nvqos, of each mode that writes devices with the hook.
[[nodiscard]] std::vector<cli::Option> options_of_hook();

/// Returns the path of nvqos on the node. With --copy-nvqos, it first copies that file there,
/// unless an equal one is there already. Fails if the copy is impossible, or if others than root
/// can change it.
[[nodiscard]] Outcome<std::string> hook_program(const cli::Arguments &arguments);

/// Returns the option's value. Fails unless it is an absolute path.
[[nodiscard]] Outcome<std::string> path_of(const cli::Arguments &arguments,
                                           const std::string &option, const std::string &otherwise);

} // namespace nvdebug::kubernetes
