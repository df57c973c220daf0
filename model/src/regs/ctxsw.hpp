// SPDX-License-Identifier: MIT OR GPL-2.0
// The header of a graphics context's image, as firmware reads and writes it. Byte offsets.
// Source: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100,ampere/ga102}/
// dev_ctxsw.ref.txt; Kepler..Pascal: nvgpu hw_ctxsw_prog_{gk20a,gm20b,gp10b}.h. Nothing is public
// for Ada and newer.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::ctxsw {

inline constexpr std::uint32_t num_gpcs = 0x08;
inline constexpr std::uint32_t ctl = 0x0c; // Volta+
inline constexpr Field ctl_type{5, 0};
inline constexpr std::uint32_t type_opengl = 0x08;
inline constexpr std::uint32_t type_compute = 0x20;
inline constexpr std::uint32_t type_per_veid_header = 0x21;
inline constexpr Field ctl_magic{31, 16};
inline constexpr std::uint32_t ctl_magic_value = 0xcafe;

// Virtual addresses in two words, the upper first.
inline constexpr Field address_hi{16, 0};
// Hopper+: inferred from the size of virtual addresses (nvgpu hw_ctxsw_prog_gb10b.h names the whole
// word). The other pointers are shifted, so they have room.
inline constexpr Field address_hi_wide{24, 0};
inline constexpr std::uint32_t full_preemption_ptr_hi = 0x64; // VA >> 8
inline constexpr std::uint32_t full_preemption_ptr = 0x68;
inline constexpr std::uint32_t full_preemption_ptr_veid0_hi = 0x70; // Volta+
inline constexpr std::uint32_t full_preemption_ptr_veid0 = 0x74;
inline constexpr unsigned full_preemption_ptr_shift = 8;
inline constexpr std::uint32_t context_buffer_ptr_hi = 0x78; // not shifted; in per-VEID headers
inline constexpr std::uint32_t context_buffer_ptr = 0x7c;

// Pascal+.
inline constexpr std::uint32_t graphics_preemption_options = 0x80;
inline constexpr std::uint32_t compute_preemption_options = 0x84;
inline constexpr Field preemption_control{1, 0};
inline constexpr std::uint32_t num_wfi_save = 0xd0;
inline constexpr std::uint32_t num_cta_save = 0xd4;
inline constexpr std::uint32_t num_gfxp_save = 0xd8;
inline constexpr std::uint32_t num_cilp_save = 0xdc;

inline constexpr std::uint32_t context_id = 0xf0;
inline constexpr std::uint32_t num_save = 0xf4;
inline constexpr std::uint32_t num_restore = 0xf8;
inline constexpr std::uint32_t magic = 0xfc;
inline constexpr std::uint32_t magic_value = 0x600dc0de;
// Headers of 0x200 bytes (Ampere) and more.
inline constexpr std::uint32_t magic_2 = 0x100;
inline constexpr std::uint32_t magic_2_value = 0xdeadce11;
inline constexpr std::uint32_t magic_3 = 0x1fc;
inline constexpr std::uint32_t magic_3_value = 0xfaceb00c;
// Headers of 0x300 bytes (ga10b: nvgpu hw_ctxsw_prog_ga10b.h).
inline constexpr std::uint32_t magic_4 = 0x200;
inline constexpr std::uint32_t magic_4_value = 0x0baff1ed;
inline constexpr std::uint32_t magic_5 = 0x2fc;
inline constexpr std::uint32_t magic_5_value = 0xca5caded;

// The header of FECS's own part, right behind the main header.
inline constexpr std::uint32_t local_ctl = 0x04; // Volta+
inline constexpr std::uint32_t local_ctl_magic_value = 0xca11;
inline constexpr std::uint32_t local_magic_value = 0xad0becab;
inline constexpr std::uint32_t local_magic_2_value = 0x1ceb00da;
inline constexpr std::uint32_t local_magic_3_value = 0xf00dbeef;
inline constexpr std::uint32_t local_magic_4_value = 0x0dec0ded;
inline constexpr std::uint32_t local_magic_5_value = 0x5caff01d;

} // namespace nvmodel::regs::ctxsw
