// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace nvdebugctl {

/// Returns the whole table, in the order in which help shows it.
[[nodiscard]] std::vector<Object> all_objects();

} // namespace nvdebugctl
