// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Tasks that an earlier nvqos left changed, because it was killed together with its keepers.
#pragma once

#include <cstdint>

#include "nvdebug/gpu.hpp"
#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// Restores such tasks, and warns of each. With @p dry_run it warns alone. @p number is the GPU's
/// number in the warnings.
void restore_left_over(const nvdebug::Gpu &gpu, std::uint32_t number, bool dry_run,
                       const Warn &warn);

} // namespace nvqos
