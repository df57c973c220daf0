// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PGC6: a scratch register of GH100's that firmware leaves for the driver
// (open-gpu-kernel-modules published/hopper/gh100/dev_gc6_island{,_addendum}.h:
// SECURE_SCRATCH_GROUP_20_CC). 0 on an H100 and an H200 with confidential computing off.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::pgc6 {

inline constexpr std::uint32_t scratch_cc = 0x1182cc;
inline constexpr Field cc_mode = bit(0);

} // namespace nvmodel::regs::pgc6
