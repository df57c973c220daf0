// SPDX-License-Identifier: MIT OR GPL-2.0
// The PRI ring master: the clients that answered on the ring. Source: nvgpu
// hw_pri_ringmaster_gk20a.h to hw_pri_ringmaster_ga10b.h; measured on GA100 by others.
#pragma once

#include <cstdint>

namespace nvmodel::regs::pri_ring {

inline constexpr std::uint32_t range_begin = 0x120000;
inline constexpr std::uint32_t range_end = 0x121000;

inline constexpr std::uint32_t enum_gpc = 0x120078; // GPCs that are on

} // namespace nvmodel::regs::pri_ring
