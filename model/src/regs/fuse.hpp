// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_FUSE: which GPCs and TPCs are switched off (a set bit is a unit that is off).
// Source: nvgpu hw_fuse_{gm20b,gv11b,tu104,ga100,ga10b}.h. The offsets inside the block are the
// same everywhere; the block moved with Ampere.
#pragma once

#include <cstdint>

namespace nvmodel::regs::fuse {

inline constexpr std::uint32_t base_maxwell = 0x021000; // Maxwell..Turing
inline constexpr std::uint32_t base_ampere = 0x820000;
inline constexpr std::uint32_t size = 0x1000;

inline constexpr std::uint32_t ctrl_opt_gpc = 0x81c; // Ampere+
inline constexpr std::uint32_t ctrl_opt_tpc_gpc = 0x838;
inline constexpr std::uint32_t status_opt_gpc = 0xc1c;
inline constexpr std::uint32_t status_opt_tpc_gpc = 0xc38;

} // namespace nvmodel::regs::fuse
