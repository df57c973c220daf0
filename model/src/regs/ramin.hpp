// SPDX-License-Identifier: MIT OR GPL-2.0
// The instance block: RAMFC (Host's saved state), page directory, engine context, subcontexts.
// Word numbers. Source: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/
// dev_ram.ref.txt and dev_pbdma.ref.txt; Kepler..Pascal: nvgpu hw_ram_gp10b.h and
// open-gpu-kernel-modules published/pascal/gp100/dev_ram.h.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::ramin {

inline constexpr std::uint32_t size = 0x1000;
inline constexpr unsigned words = size / 4;

// Words of RAMFC.
inline constexpr unsigned fc_gp_put = 0;
inline constexpr unsigned fc_userd = 2; // up to Turing
inline constexpr unsigned fc_userd_hi = 3;
inline constexpr unsigned fc_signature = 4;
inline constexpr std::uint32_t signature_legacy = 0xface;
inline constexpr unsigned fc_gp_get = 5;
inline constexpr unsigned fc_acquire = 12;
inline constexpr unsigned fc_gp_base = 18;
inline constexpr unsigned fc_gp_base_hi = 19;
inline constexpr Field gp_base_hi_limit2{20, 16};
inline constexpr unsigned fc_subdevice = 37;
inline constexpr unsigned fc_target = 43;
inline constexpr Field target_engine{4, 0};
inline constexpr Field target_eng_ctx_valid = bit(16); // Volta+
inline constexpr Field target_ce_ctx_valid = bit(17);  // Volta+
inline constexpr unsigned fc_hce_ctrl = 57;
inline constexpr std::uint32_t hce_ctrl_priv_mode = 0x20;
inline constexpr unsigned fc_chid = 58;   // up to Volta
inline constexpr unsigned fc_config = 61; // Volta+
inline constexpr Field config_auth_level = bit(8);
inline constexpr unsigned fc_timeslice = 62; // up to Volta: TIMEOUT 7:0, SCALE 15:12, ENABLE 28
inline constexpr Field fc_timeslice_timeout{7, 0};
inline constexpr Field fc_timeslice_scale{15, 12};
inline constexpr Field fc_timeslice_enable = bit(28);
inline constexpr unsigned fc_pb_timeslice = 63; // up to Pascal
inline constexpr std::uint32_t pb_timeslice_default = 0x10000010;
inline constexpr unsigned fc_set_channel_info = 63; // Volta+
inline constexpr Field set_channel_info_veid{13, 8};
inline constexpr Field set_channel_info_chid{27, 16};
// Blackwell (open-gpu-kernel-modules published/blackwell/gb100/dev_ram.h); the rest of its RAMFC is
// not public.
inline constexpr unsigned fc_gp_base_gb100 = 36;
inline constexpr unsigned fc_gp_base_hi_gb100 = 37;
inline constexpr unsigned fc_gp_get_gb100 = 38;
inline constexpr unsigned fc_debug_state_gp_put_gb100 = 48;

// Page directory base.
inline constexpr unsigned pdb_lo = 128;
inline constexpr unsigned pdb_hi = 129;
inline constexpr Field pdb_target{1, 0};
inline constexpr Field pdb_vol = bit(2);
inline constexpr Field pdb_ver2 = bit(10);
inline constexpr Field pdb_big_page_64k = bit(11);
inline constexpr Field pdb_address_lo{31, 12};
// TARGET, which drivers also put into unused entries
inline constexpr std::uint32_t pdb_invalid = 1;
inline constexpr unsigned adr_limit_lo = 130; // the last virtual address; up to Turing
inline constexpr Field adr_limit_lo_bits{31, 12};
inline constexpr unsigned adr_limit_hi = 131;
inline constexpr unsigned engine_ctxsw_fw_magic = 131; // Blackwell
inline constexpr std::uint32_t engine_ctxsw_fw_magic_value = 0xcafeca11;

// Engine context ("wait for idle") pointer.
inline constexpr unsigned engine_wfi_lo = 132;
inline constexpr unsigned engine_wfi_hi = 133;
inline constexpr Field wfi_target{1, 0};
inline constexpr Field wfi_mode_virtual = bit(2);
inline constexpr Field wfi_ptr_lo{31, 12};
inline constexpr Field wfi_ptr_hi{7, 0};
inline constexpr Field wfi_ptr_hi_gb10b{25, 0};  // nvgpu hw_ram_{gb10b,gb20c}.h; Hopper inferred
inline constexpr unsigned engine_wfi_veid = 134; // Volta+
inline constexpr Field wfi_veid{5, 0};
inline constexpr unsigned pasid = 135; // Volta+
inline constexpr Field pasid_id{19, 0};
inline constexpr Field pasid_enable_ats = bit(31);

// Subcontext table, Volta+.
inline constexpr unsigned sc_valid_0 = 166;
inline constexpr unsigned sc_pdb = 168; // + 4i: lo; + 4i + 1: hi; + 4i + 2: as pasid
inline constexpr unsigned subcontexts = 64;
inline constexpr unsigned words_described = sc_pdb + 4 * subcontexts; // other words are not known

} // namespace nvmodel::regs::ramin

namespace nvmodel::regs::userd {

// 512 bytes, 512-byte aligned; open-gpu-kernel-modules published/maxwell/gm107/dev_ram.h.
inline constexpr std::uint32_t size = 0x200;
inline constexpr unsigned gp_get = 34;
inline constexpr unsigned gp_put = 35;

} // namespace nvmodel::regs::userd
