// SPDX-License-Identifier: MIT OR GPL-2.0
// The size of video memory. Source: open-gpu-kernel-modules published/pascal/gp102/dev_fb.h (used
// for Turing and GA100; GP10x by its name, Volta inferred),
// published/ampere/ga102/dev_gc6_island{,_addendum}.h (used for GA10x, Ada, Hopper and Blackwell);
// the header that each chip uses: src/nvidia/generated/g_kern_mem_sys_nvoc.c. None for Kepler and
// Maxwell. MMU_CTRL: open-gpu-doc manuals/volta/gv100/dev_fb.ref.txt; Kepler, Maxwell: nvgpu
// hw_fb_{gk20a,gm20b}.h.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::pfb {

inline constexpr std::uint32_t mmu_ctrl = 0x100c80;
inline constexpr Field mmu_ctrl_big_page_64k = bit(0); // else 128 KiB
// GM20x+: instance blocks have the size
inline constexpr Field mmu_ctrl_use_pdb_big_page_size = bit(11);

/// Size = MAG << (SCALE + 20).
inline constexpr std::uint32_t local_memory_range_gp102 = 0x100ce0;
inline constexpr Field lower_scale{3, 0};
inline constexpr Field lower_mag_gp102{9, 4};
inline constexpr Field lower_mag_gh100{31, 4}; // read on an H100 and an H200

inline constexpr std::uint32_t usable_fb_size_in_mb = 0x1183a4;

} // namespace nvmodel::regs::pfb
