// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PBUS: the PRAMIN window and the instance blocks behind BAR1 and BAR2, Kepler..Ada.
// Source: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/dev_bus.ref.txt; the copies
// in the virtual-function page (Turing+): manuals/turing/tu104/dev_vm.ref.txt.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::pbus {

inline constexpr std::uint32_t range_begin = 0x001000;
inline constexpr std::uint32_t range_end = 0x002000;

inline constexpr std::uint32_t bar0_window = 0x001700;
inline constexpr Field window_base{23, 0}; // address >> 16
inline constexpr Field window_target{25, 24};
inline constexpr unsigned window_shift = 16;

inline constexpr std::uint32_t bar1_block = 0x001704;
inline constexpr std::uint32_t bind_status = 0x001710;
inline constexpr std::uint32_t bar2_block = 0x001714;
inline constexpr Field block_ptr{27, 0}; // instance block address >> 12
inline constexpr Field block_target{29, 28};
inline constexpr Field block_debug_cya = bit(30); // BAR2 only
inline constexpr Field block_mode = bit(31);      // 0 physical, 1 virtual

// Turing+: the same registers in the function page at 0xb80000.
inline constexpr std::uint32_t vf_bar1_block = 0xb80f40;
inline constexpr std::uint32_t vf_bar2_block = 0xb80f48;
inline constexpr std::uint32_t vf_bind_status = 0xb80f50;

} // namespace nvmodel::regs::pbus

namespace nvmodel::regs::pramin {

// open-gpu-doc manuals/volta/gv100/dev_ram.ref.txt (NV_PRAMIN).
inline constexpr std::uint32_t range_begin = 0x700000;
inline constexpr std::uint32_t range_end = 0x800000;

} // namespace nvmodel::regs::pramin
