// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The part of a program that is alike in all: help, version, completion, the man page, and
/// what is typed wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/cli/parse.hpp"

namespace nvdebug::cli {

/// Answers what the table alone can answer, and calls @p perform for the rest. Returns the exit
/// status (lib/base/exit_status.hpp): 1 if the words make no sense, with a sentence on stderr, and
/// with --json the same as JSON on stdout; 5 if stdout takes no more; else what @p perform
/// returned.
[[nodiscard]] int run(const Program &program, const std::vector<std::string> &words,
                      const std::function<int(const Parsed &)> &perform);

/// Says why the program ends, and with --json also writes it to stdout. Returns @p status.
int refuse(const Program &program, bool json, int status, const std::string &sentence);

} // namespace nvdebug::cli
