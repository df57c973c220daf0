// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What shells may put in place of a word of nvtaskset's command line.
#pragma once

#include <string>
#include <vector>

namespace nvtaskset {

/// Returns lines for `nvtaskset __complete`: candidates for the last of @p words, each with a
/// description after a tab; or `@N` alone if the last word is of the command that begins with word
/// N, so that the shell completes it.
[[nodiscard]] std::vector<std::string> completions(const std::vector<std::string> &words);

} // namespace nvtaskset
