// SPDX-License-Identifier: MIT OR GPL-2.0
// Which process made which channel, from NVIDIA's driver: the file `owners` of a GPU.
#pragma once

#include <string>

#include "nvdebug/error.hpp"
#include "ownership.hpp"

namespace nvdebug::driver {

/// The text of the file `owners` (docs/nvdebugctl.md), from what Ownership::find() finds.
[[nodiscard]] Result<std::string> owners(Ownership &ownership, const Card &card);

} // namespace nvdebug::driver
