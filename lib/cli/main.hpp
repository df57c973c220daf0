// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The parts of main() that all programs share: help, version, completion, the man page, and
/// errors of the command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/cli/parse.hpp"

namespace nvdebug::cli {

/// Answers help, version and the like from the table, and calls @p perform for all other command
/// lines. Returns the exit status (lib/base/exit_status.hpp): 1 if the command line is wrong, with
/// a sentence on stderr, and with --json also as JSON on stdout; 5 if stdout cannot be written;
/// otherwise the status that @p perform returned.
[[nodiscard]] int run(const Program &program, const std::vector<std::string> &words,
                      const std::function<int(const Parsed &)> &perform);

/// Prints on stderr why the program ends, and with --json also on stdout. Returns @p status.
int refuse(const Program &program, bool json, int status, const std::string &sentence);

} // namespace nvdebug::cli
