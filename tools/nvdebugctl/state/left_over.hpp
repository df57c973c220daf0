// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Tasks that a program which was killed, with its keeper, left changed.
#pragma once

#include <string>
#include <vector>

#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

/// Describes what was left changed, in sentences; empty: nothing, or this user may not know.
[[nodiscard]] std::vector<std::string> describe_left_over(const nvdebug::Gpu &gpu);

} // namespace nvdebugctl
