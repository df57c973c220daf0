// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PPBDMA: the units that fetch pushbuffers. Relative to a PBDMA's base.
// Source: open-gpu-doc manuals/{volta/gv100,ampere/ga100}/dev_pbdma.ref.txt.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::pbdma {

inline constexpr std::uint32_t range_begin = 0x040000;
inline constexpr std::uint32_t stride_kepler = 0x2000; // Kepler..Turing
inline constexpr std::uint32_t stride_ampere = 0x800;

inline constexpr std::uint32_t signature = 0x010;
inline constexpr std::uint32_t set_channel_info = 0x0fc; // Volta+, fields: regs/ramin.hpp
inline constexpr std::uint32_t channel = 0x120;
inline constexpr Field channel_chid{11, 0};
inline constexpr Field channel_valid = bit(13); // Ampere+
// Ampere+.
inline constexpr std::uint32_t next_channel = 0x124;
inline constexpr std::uint32_t status_sched = 0x15c;
inline constexpr Field status_sched_tsgid{11, 0};
inline constexpr Field status_sched_chan{15, 13};
inline constexpr Field status_sched_next_tsgid{27, 16};
inline constexpr std::uint32_t status_inst = 0x160;
inline constexpr std::uint32_t status_inst_hi = 0x164;

} // namespace nvmodel::regs::pbdma
