// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What nvtaskset prints beside its results, and with which status it ends.
#pragma once

#include <string>

#include "lib/partition/outcome.hpp"
#include "lib/partition/tasks.hpp"
#include "options.hpp"

namespace nvtaskset {

/// Prints a sentence on standard error.
void say(const std::string &sentence);

/// The same, unless -q leaves notes out.
void note(const Options &options, const std::string &sentence);

/// Prints why nvtaskset ends, and returns the status.
Exit refuse(const Refusal &why);
/// The same, with --json also as JSON on standard output.
Exit refuse(const Options &options, const Refusal &why);
Exit refuse(const std::string &sentence, Exit exit = Exit::refused);

/// Ends standard output. Returns @p exit, or a failure if something could not be written.
[[nodiscard]] Exit written(Exit exit);

/// The command of a task's oldest process.
[[nodiscard]] std::string command_of(const Task &task);

} // namespace nvtaskset
