// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Work that is done in a process of its own, with which its use of CUDA ends.
#pragma once

#include <functional>
#include <string>

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// Returns the text that @p work makes in a child, which may change its environment.
/// Fails with the error of @p work, and if the child ends unexpectedly or takes two minutes.
/// @param what the work, for a sentence: `a kernel that finds the TPCs`
[[nodiscard]] Outcome<std::string> apart(const std::string &what,
                                         const std::function<Outcome<std::string>()> &work);

} // namespace nvtaskset
