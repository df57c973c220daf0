// SPDX-License-Identifier: MIT OR GPL-2.0
// The compute work distributor, a part of PGRAPH: the number of TPCs, and their numbering. Source:
// open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/pri_cwd.ref.txt; before Volta:
// nouveau engine/gr/{ctxgk104,ctxgm200,ctxgp100}.c (CWD_FS from Kepler on, the tables from GM20x
// on). It is not public for Ada, which has more TPCs than the tables can name. From Hopper on the
// tables are elsewhere and larger: nvgpu hw_gr_{gb10b,gb20c}.h (GB20C has no GPC_TPC_ID); read on
// an H100 and an H200, where the driver reports the same order.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::cwd {

inline constexpr std::uint32_t range_begin = 0x405b00;
inline constexpr std::uint32_t range_end = 0x405c00;

inline constexpr std::uint32_t fs = 0x405b00;
inline constexpr Field fs_num_gpcs{7, 0};
inline constexpr Field fs_num_tpcs{15, 8};
inline constexpr std::uint32_t partition_ctl = 0x405b2c;  // Volta+
inline constexpr std::uint32_t partition_data = 0x405b30; // Volta+
inline constexpr Field partition_ctl_known{29, 0};
inline constexpr unsigned table_words = 16;
inline constexpr unsigned tpcs_per_word = 4;
inline constexpr std::uint32_t gpc_tpc_id = 0x405b60; // + 4i; 4 bits TPC, 4 bits GPC for each
inline constexpr std::uint32_t sm_id = 0x405ba0;      // + 4i; 8 bits for each

// Hopper+.
inline constexpr std::uint32_t tables_begin_gh100 = 0x405000;
inline constexpr std::uint32_t tables_end_gh100 = 0x405800;
inline constexpr std::uint32_t gpc_tpc_id_gh100 = 0x405000;
inline constexpr std::uint32_t sm_id_gh100 = 0x405100;

} // namespace nvmodel::regs::cwd
