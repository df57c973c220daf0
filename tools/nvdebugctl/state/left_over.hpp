// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Describes tasks that are still changed because a program was killed together with its
/// keeper.
#pragma once

#include <string>
#include <vector>

#include "nvdebug/gpu.hpp"

namespace nvdebugctl {

/// Describes, in sentences, what was left changed; empty: nothing, or this user may not know.
[[nodiscard]] std::vector<std::string> describe_left_over(const nvdebug::Gpu &gpu);

} // namespace nvdebugctl
