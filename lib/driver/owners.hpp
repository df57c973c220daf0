// SPDX-License-Identifier: MIT OR GPL-2.0
// Makes the file `owners` of a GPU, which process made which channel, from NVIDIA's driver.
#pragma once

#include <string>

#include "nvdebug/error.hpp"
#include "ownership.hpp"

namespace nvdebug::driver {

/// Returns the text of the file `owners` (docs/nvdebugctl.md), from the result of
/// Ownership::find().
[[nodiscard]] Result<std::string> owners(Ownership &ownership, const Card &card);

} // namespace nvdebug::driver
