// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a shell may put in place of the last word: `PROGRAM __complete WORD…`, for the
/// scripts of tools/completion.
///
/// Each line is a candidate, or a candidate, a tab and its meaning. The scripts complete files
/// where there is no line. `@N` alone has the command begin with the N-th word (from 0), which the
/// shell completes by itself.
#pragma once

#include <string>
#include <vector>

#include "lib/cli/table.hpp"

namespace nvdebug::cli {

/// @param words those before the cursor, the last of which is not finished and may be empty
[[nodiscard]] std::vector<std::string> completions(const Program &program,
                                                   const std::vector<std::string> &words);

/// Returns the candidates that begin as @p typed does, each behind @p before.
[[nodiscard]] std::vector<std::string> matching(const std::vector<std::string> &candidates,
                                                const std::string &typed,
                                                const std::string &before = "");

} // namespace nvdebug::cli
