// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_CE: the physical copy engines that work for each logical one. Turing: open-gpu-doc
// manuals/turing/tu104/dev_ce.ref.txt. GA10x: manuals/ampere/ga102/ dev_ce.ref.txt; Ada runs the
// same driver functions. Hopper: read on an H100 and an H200, which have everything as GA102 has
// it. GB10B, GB20C: nvgpu hw_ce_{gb10b,gb20c}.h, the same; numbers of engines on the discrete
// chips: open-gpu-kernel-modules published/{hopper/gh100,blackwell/gb100,blackwell/gb202}/
// dev_ce_base.h. No manual covers Pascal, nor the use of the Turing form on Volta and of the GA102
// form on GA100: these are as the tool of the RTAS'24 paper uses them.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::ce {

inline constexpr std::uint32_t range_begin = 0x104000;
inline constexpr std::uint32_t range_end = 0x106000;

inline constexpr std::uint32_t pce_map = 0x104028;

// Pascal: one register for all PCEs, one for all GRCEs.
inline constexpr std::uint32_t pascal_pce2lce = 0x10402c;
inline constexpr unsigned pascal_pce_bits = 4;
inline constexpr std::uint32_t pascal_pce_none = 0x7;
inline constexpr std::uint32_t pascal_grce = 0x104034;
inline constexpr unsigned pascal_grce_bits = 8;
inline constexpr Field pascal_grce_shared = bit(3);
inline constexpr Field pascal_grce_lce{2, 0};

// Volta, Turing: an array of registers for each kind.
inline constexpr std::uint32_t turing_pce2lce = 0x104040;
inline constexpr std::uint32_t turing_grce = 0x104034;
// Ampere and newer.
inline constexpr std::uint32_t ampere_pce2lce = 0x104100;
inline constexpr std::uint32_t ampere_grce = 0x1041c0;

inline constexpr Field pce2lce_lce{3, 0};
inline constexpr std::uint32_t lce_none = 0xf;
inline constexpr Field grce_shared_lce{3, 0};
inline constexpr Field grce_shared = bit(30);
inline constexpr Field grce_timeslice = bit(31);

} // namespace nvmodel::regs::ce
