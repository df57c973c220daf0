// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Completes a command line for a shell: `PROGRAM __complete WORD…`, which the scripts of
/// lib/cli/completion call.
///
/// Each line of output is a candidate, or a candidate, a tab and its meaning. If there is no line,
/// the scripts complete files. The line `@N` means that another command begins with word N (from
/// 0), which the shell completes by itself.
#pragma once

#include <string>
#include <vector>

#include "lib/cli/table.hpp"

namespace nvdebug::cli {

/// Returns the candidates for the last of @p words, which may be unfinished or empty.
[[nodiscard]] std::vector<std::string> completions(const Program &program,
                                                   const std::vector<std::string> &words);

/// Returns the candidates that begin with @p typed, each with @p before in front.
[[nodiscard]] std::vector<std::string> matching(const std::vector<std::string> &candidates,
                                                const std::string &typed,
                                                const std::string &before = "");

} // namespace nvdebug::cli
