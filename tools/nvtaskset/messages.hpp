// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Messages and exit statuses of nvtaskset.
#pragma once

#include <string>

#include "lib/partition/outcome.hpp"
#include "lib/partition/tasks.hpp"
#include "options.hpp"

namespace nvtaskset {

/// Prints a sentence on standard error.
void say(const std::string &sentence);

/// Prints a note on standard error, unless -q leaves notes out.
void note(const Options &options, const std::string &sentence);

/// Prints the reason for which nvtaskset ends, and returns the status.
Exit refuse(const Refusal &why);
/// Prints the reason, with --json also as JSON on standard output, and returns the status.
Exit refuse(const Options &options, const Refusal &why);
Exit refuse(const std::string &sentence, Exit exit = Exit::refused);

/// Flushes standard output. Returns @p exit, or a failure if something could not be written.
[[nodiscard]] Exit written(Exit exit);

/// Returns the command of a task's oldest process.
[[nodiscard]] std::string command_of(const Task &task);

} // namespace nvtaskset
