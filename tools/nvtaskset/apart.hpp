// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Work in a child process. Its use of CUDA ends with the child.
#pragma once

#include <functional>
#include <string>

#include "lib/partition/outcome.hpp"

namespace nvtaskset {

/// Returns the text that @p work makes in a child process, whose environment it may change.
/// Fails with the error of @p work, and if the child ends unexpectedly or takes two minutes.
/// @param what names the work in errors: `a kernel that finds the TPCs`
[[nodiscard]] Outcome<std::string> apart(const std::string &what,
                                         const std::function<Outcome<std::string>()> &work);

} // namespace nvtaskset
