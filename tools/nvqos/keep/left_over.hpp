// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Tasks that an nvqos before this one left changed: it was killed, and its keepers with it.
#pragma once

#include <cstdint>

#include "nvdebug/gpu.hpp"
#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// Restores them, or with @p dry_run names them alone, and warns of each. @p number is the GPU's in
/// the warnings.
void restore_left_over(const nvdebug::Gpu &gpu, std::uint32_t number, bool dry_run,
                       const Warn &warn);

} // namespace nvqos
