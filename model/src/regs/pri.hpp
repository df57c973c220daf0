// SPDX-License-Identifier: MIT OR GPL-2.0
// The values of reads that no register answers. Codes: nvgpu hal/priv_ring/priv_ring_ga10b_fusa.c.
// It is measured that a hole inside a client reads 0xbadf5040, and a hole between clients
// 0xbadf1100 (nvgpu os/posix/mock-registers.c, a gv11b). 0xbad0fbxx and 0xbad0acxx: envytools
// docs/hw/mmio.rst. Everything reads 0xbadf0200 until a reset: open-gpu-kernel-modules
// src/common/inc/swref/published/hopper/gh100/dev_nv_xal_ep_zb.h.
#pragma once

#include <array>
#include <cstdint>

namespace nvmodel::regs::pri {

inline constexpr std::uint32_t no_client = 0xbadf1100;       // no unit decodes the address
inline constexpr std::uint32_t no_such_address = 0xbadf5040; // the unit has no such register
inline constexpr std::uint32_t memory_problem = 0xbad0fb00;  // beyond the end of video memory
inline constexpr std::uint32_t vm_fault = 0xbad0ac00;        // BAR1/BAR2 access not translated
inline constexpr std::uint32_t off_the_bus = 0xffffffff;

/// The twelve bits that all error words share.
inline constexpr std::uint32_t error_mask = 0xfff00000;
inline constexpr std::uint32_t error_mark = 0xbad00000;

/// A word of each known kind. Up to 0xbad0fb00 they come from Host and memory, from 0xbadf0200 on
/// from the register bus.
inline constexpr std::array<std::uint32_t, 41> error_words{
    0xbad00100, // Host: timeout
    0xbad00200, // decode error
    0xbad00f00, // FECS
    0xbad0ac00, // BAR1 or BAR2 not translated
    0xbad0b000, // no answer from memory
    0xbad0da00, // unit off in PMC_ENABLE
    0xbad0fb00, // beyond the end of video memory
    0xbadf0200, // security fault
    0xbadf1000, // client: timeout
    0xbadf1100, // no client
    0xbadf1201, // in reset
    0xbadf1300, // floorswept
    0xbadf1400, // stuck acknowledgement
    0xbadf1500, // acknowledgement expected
    0xbadf1600, // fence
    0xbadf1700, // subid
    0xbadf1800, // read data awaited
    0xbadf1900, // byte enables
    0xbadf2000, // target: removed
    0xbadf2100, // power not ok
    0xbadf2200, // removed, power gated
    0xbadf2300, // power gated
    0xbadf2400, // GPC clock gated
    0xbadf2500, // GPC clock gated, broadcast
    0xbadf2600, // local decoding
    0xbadf2700, // poisoned
    0xbadf2800, // kind of transaction
    0xbadf3000, // ring dead
    0xbadf3100, // ring dead in low power
    0xbadf4000, // trap
    0xbadf4100, // reserved for another master
    0xbadf5040, // no such register
    0xbadf5100, // privilege level
    0xbadf5200, // privilege level, indirect
    0xbadf5300, // local ring
    0xbadf5400, // privilege level of a falcon's memory
    0xbadf5500, // route
    0xbadf5700, // source enable
    0xbadf5900, // source enable, indirect
    0xbadf6000, // locked by a sensor
    0xbadfffff, // kinds without a public name
};

} // namespace nvmodel::regs::pri
