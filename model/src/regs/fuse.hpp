// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_FUSE: the GPCs and TPCs that are switched off (a set bit is a unit that is off). Source: nvgpu
// hw_fuse_{gm20b,gv11b,tu104,ga100,ga10b}.h. The offsets inside the block are the same from Maxwell
// on; the block moved with Ampere. It is inferred that Hopper and Blackwell keep the offsets of the
// single GPCs: their block base is public, as is GB10B's STATUS_OPT_GPC. Kepler: envytools
// rnndb/bus/punits.xml.
#pragma once

#include <cstdint>

namespace nvmodel::regs::fuse {

inline constexpr std::uint32_t base_gm107 = 0x021000; // Maxwell..Turing
inline constexpr std::uint32_t base_ga100 = 0x820000;
inline constexpr std::uint32_t size = 0x1000;

inline constexpr std::uint32_t ctrl_opt_gpc = 0x81c; // Ampere+
inline constexpr std::uint32_t ctrl_opt_tpc_gpc = 0x838;
inline constexpr std::uint32_t status_opt_gpc = 0xc1c;
inline constexpr std::uint32_t status_opt_tpc_gpc = 0xc38;

// Kepler, inside PTOP: the burnt-in masks, and a copy of them that software may set.
inline constexpr std::uint32_t gf100_begin = 0x022500;
inline constexpr std::uint32_t gf100_end = 0x022600;
inline constexpr std::uint32_t gf100_hw_gpc = 0x022504;
inline constexpr std::uint32_t gf100_hw_tpc_gpc = 0x022508;
inline constexpr std::uint32_t gf100_sw_gpc = 0x022584;
inline constexpr std::uint32_t gf100_sw_tpc_gpc = 0x022588;

} // namespace nvmodel::regs::fuse
