// SPDX-License-Identifier: MIT OR GPL-2.0
// The unit that hands GPCs to graphics engines. Source: nvgpu hw_smcarb_ga10b.h for the place. The
// map's fields were read on an H100 and an H200, and compared with the driver's report on GPCs.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::smcarb {

inline constexpr std::uint32_t range_begin = 0x00cc00;
inline constexpr std::uint32_t range_end = 0x00cd00;

inline constexpr std::uint32_t gpc_map = 0x00cc00; // + 4 * logical GPC
inline constexpr Field gpc_map_physical{20, 16};
inline constexpr Field gpc_map_half = bit(24);
// This bit is set in the first entry only; its meaning is not known.
inline constexpr Field gpc_map_first = bit(28);

inline constexpr std::uint32_t sys_pipe_info = 0x00cc80; // 0 on an H100 and an H200 with MIG off
inline constexpr Field sys_pipe_mode = bit(0);           // MIG

} // namespace nvmodel::regs::smcarb
