// SPDX-License-Identifier: MIT OR GPL-2.0
// What a read returns when no register answers it.
// Codes: nvgpu hal/priv_ring/priv_ring_ga10b_fusa.c; that a hole inside a client reads 0xbadf5040
// and one between clients 0xbadf1100 is measured (nvgpu os/posix/mock-registers.c, a gv11b).
// 0xbad0fbxx and 0xbad0acxx: envytools docs/hw/mmio.rst.
#pragma once

#include <cstdint>

namespace nvmodel::regs::pri {

inline constexpr std::uint32_t no_client = 0xbadf1100;       // no unit decodes the address
inline constexpr std::uint32_t no_such_address = 0xbadf5040; // the unit has no such register
inline constexpr std::uint32_t memory_problem = 0xbad0fb00;  // beyond the end of video memory
inline constexpr std::uint32_t vm_fault = 0xbad0ac00;        // BAR1/BAR2 access not translated
inline constexpr std::uint32_t off_the_bus = 0xffffffff;

} // namespace nvmodel::regs::pri
