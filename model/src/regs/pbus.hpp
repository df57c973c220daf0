// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PBUS: the PRAMIN window and the instance blocks behind BAR1 and BAR2, Kepler..Ada. By GA100's
// manual the latter have no storage of their own there; an H100 and an H200 have none of the three
// registers. Source: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/dev_bus.ref.txt;
// the copies in the virtual-function page (Turing+): manuals/turing/tu104/dev_vm.ref.txt. Kepler
// has the same (envytools rnndb/bus/pbus.xml).
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::pbus {

inline constexpr std::uint32_t range_begin = 0x001000;
inline constexpr std::uint32_t range_end = 0x002000;

// A scratch register in which GA100's firmware stores whether MIG is on (open-gpu-kernel-modules
// published/ampere/ga100/dev_bus{,_addendum}.h: SW_SCRATCH1_SMC_MODE; kmigmgr_ga100.c reads it on
// GA100 only).
inline constexpr std::uint32_t sw_scratch_1 = 0x001404;
inline constexpr Field smc_mode = bit(15);
inline constexpr std::uint32_t sw_scratch_1_gh100 = 0x8c; // read on H100s and an H200 with MIG off

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

// Hopper+: a pair of registers for each BAR in the function page (open-gpu-kernel-modules
// published/hopper/gh100/dev_vm.h, published/blackwell/gb100/dev_vm.h).
inline constexpr std::uint32_t vf_bar1_block_low = 0xb80f60;
inline constexpr std::uint32_t vf_bar1_block_high = 0xb80f64;
inline constexpr std::uint32_t vf_bar2_block_low = 0xb80f70;
inline constexpr std::uint32_t vf_bar2_block_high = 0xb80f74;
inline constexpr Field block_low_mode = bit(9); // 0 physical, 1 virtual
inline constexpr Field block_low_target{11, 10};
inline constexpr Field block_low_ptr{31, 12};         // address bits in place
inline constexpr Field vf_bar2_block_high_ptr{19, 0}; // BAR1's has all 32 bits

// The part of the function page that holds the BAR registers.
inline constexpr std::uint32_t vf_blocks_begin = 0xb80f40;
inline constexpr std::uint32_t vf_blocks_end = 0xb80f80;

} // namespace nvmodel::regs::pbus

namespace nvmodel::regs::xal {

// NV_XAL_EP_ZB, Hopper+ (open-gpu-kernel-modules published/hopper/gh100/{dev_nv_xal_ep_zb.h,
// hwproject.h}, published/blackwell/gb100/dev_nv_xal_ep_zb.h).
inline constexpr std::uint32_t range_begin = 0x10f000;
inline constexpr std::uint32_t range_end = 0x110000;
inline constexpr std::uint32_t bar0_window = 0x10fd40; // no target: always video memory
// Reading one of these registers starts an operation and gives a token. The register 4 bytes
// further has the token of the last finished operation, and STATUS 31 for busy.
inline constexpr std::uint32_t fb_flush = 0x10f800; // not on GB10x
inline constexpr std::uint32_t l2_clean_comptags = 0x10f808;
inline constexpr std::uint32_t l2_flush_dirty = 0x10f810;
inline constexpr std::uint32_t vf_l2_sysmem_invalidate = 0xb80f10;
inline constexpr std::uint32_t vf_l2_peermem_invalidate = 0xb80f18;
inline constexpr std::uint32_t vf_flushes_begin = 0xb80f00;
inline constexpr std::uint32_t vf_flushes_end = 0xb80f40;
inline constexpr Field token{30, 0};

inline constexpr Field window_base_gh100{21, 0}; // address >> 16
inline constexpr Field window_base_gb100{22, 0};

} // namespace nvmodel::regs::xal

namespace nvmodel::regs::pramin {

// open-gpu-doc manuals/volta/gv100/dev_ram.ref.txt (NV_PRAMIN).
inline constexpr std::uint32_t range_begin = 0x700000;
inline constexpr std::uint32_t range_end = 0x800000;

} // namespace nvmodel::regs::pramin
