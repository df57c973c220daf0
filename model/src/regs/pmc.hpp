// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PMC: chip identity.
// Source: open-gpu-kernel-modules src/common/inc/swref/published/nv_ref.h.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::pmc {

inline constexpr std::uint32_t range_begin = 0x000000;
inline constexpr std::uint32_t range_end = 0x001000;

inline constexpr std::uint32_t boot_0 = 0x000000;
inline constexpr std::uint32_t boot_1 = 0x000004;
inline constexpr std::uint32_t boot_42 = 0x000a00;

// Kepler..Turing: one reset bit per unit
// (open-gpu-kernel-modules published/{pascal/gp102,volta/gv100,turing/tu102}/dev_boot.h).
inline constexpr std::uint32_t enable = 0x000200;
inline constexpr Field enable_host = bit(8);

// GB10x: a scratch register that firmware leaves for the driver (open-gpu-kernel-modules
// published/blackwell/gb100/dev_boot_zb{,_addendum}.h: SCRATCH_RESET_2_CC).
inline constexpr std::uint32_t scratch_cc = 0x000590;
inline constexpr Field cc_mode = bit(0);

inline constexpr Field boot_0_chip_id{28, 20};
inline constexpr Field boot_0_revision{7, 0};

} // namespace nvmodel::regs::pmc
