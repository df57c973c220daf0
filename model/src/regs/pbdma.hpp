// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PPBDMA: the units that fetch pushbuffers. Offsets are relative to a PBDMA's base. Source:
// open-gpu-doc manuals/{volta/gv100,ampere/ga100}/dev_pbdma.ref.txt; Blackwell: nvgpu
// hw_pbdma_gb10b.h and hw_pbdma_gb20c.h; the discrete chips are assumed to be like these.
#pragma once

#include "base/bits.hpp"

#include <array>

namespace nvmodel::regs::pbdma {

inline constexpr std::uint32_t range_begin = 0x040000;
inline constexpr std::uint32_t stride_kepler = 0x2000; // Kepler..Turing
inline constexpr std::uint32_t stride_ampere = 0x800;

// Registers that are saved to the RAMFC word of the same name, of number offset / 4:
// GP_PUT, SIGNATURE, GP_GET, GP_BASE, GP_BASE_HI, and from Volta to GB10x SET_CHANNEL_INFO.
inline constexpr std::array saved_gk104{0x000U, 0x010U, 0x014U, 0x048U, 0x04cU};
inline constexpr std::array saved_gv100{0x000U, 0x010U, 0x014U, 0x048U, 0x04cU, 0x0fcU};
inline constexpr std::array saved_gb10b{0x0c0U, 0x038U, 0x098U, 0x090U, 0x094U, 0x058U};
inline constexpr std::array saved_gb20c{0x0c0U, 0x038U, 0x098U, 0x090U, 0x094U};
inline constexpr std::uint32_t channel = 0x120;
inline constexpr Field channel_chid{11, 0};
inline constexpr Field channel_valid = bit(13); // Ampere+
// Ampere+.
inline constexpr std::uint32_t next_channel = 0x124;
inline constexpr std::uint32_t status_sched = 0x15c;
inline constexpr Field status_sched_tsgid{11, 0};
inline constexpr Field status_sched_chan{15, 13};
inline constexpr Field status_sched_next_tsgid{27, 16};
inline constexpr std::uint32_t status_inst = 0x160; // up to Hopper; not known on Blackwell
inline constexpr std::uint32_t status_inst_hi = 0x164;

} // namespace nvmodel::regs::pbdma
