// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PTOP: the engines, and the unit counts of the design. Version 1 (Kepler..Turing): open-gpu-doc
// manuals/volta/gv100/dev_top.ref.txt. Version 2 (Ampere+): open-gpu-kernel-modules
// published/ampere/ga100/dev_top.h and published/blackwell/gb100/dev_top.h; nvgpu hw_top_ga10b.h.
// Version 3 has the same rows: nvgpu hw_top_gb20c.h.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::ptop {

inline constexpr std::uint32_t range_begin = 0x022400;
inline constexpr std::uint32_t range_end_v1 = 0x022800;
inline constexpr std::uint32_t range_end_v2 = 0x023000;

inline constexpr std::uint32_t scal_num_gpcs = 0x022430;
inline constexpr std::uint32_t scal_num_tpc_per_gpc = 0x022434;
inline constexpr std::uint32_t scal_num_fbps = 0x022438;
inline constexpr std::uint32_t scal_num_ces = 0x022444;
inline constexpr std::uint32_t scal_num_ltcs = 0x022454; // from GM20x on
inline constexpr Field scal{4, 0};

namespace v1 {

inline constexpr std::uint32_t device_info = 0x022700;
inline constexpr unsigned words = 64;

inline constexpr Field entry{1, 0};
inline constexpr std::uint32_t entry_data = 1;
inline constexpr std::uint32_t entry_enum = 2;
inline constexpr std::uint32_t entry_engine_type = 3;
inline constexpr Field chain = bit(31);

inline constexpr Field data_inst_id{29, 26};
inline constexpr Field data_pri_base{23, 12}; // address >> 12
inline constexpr Field data_fault_id{9, 3};
inline constexpr Field data_fault_id_valid = bit(2);

inline constexpr Field enum_engine{29, 26};
inline constexpr Field enum_runlist{24, 21};
inline constexpr Field enum_intr{19, 15};
inline constexpr Field enum_reset{13, 9};
inline constexpr Field enum_engine_valid = bit(5);
inline constexpr Field enum_runlist_valid = bit(4);
inline constexpr Field enum_intr_valid = bit(3);
inline constexpr Field enum_reset_valid = bit(2);

inline constexpr Field type_enum{30, 2};

} // namespace v1

namespace v2 {

inline constexpr std::uint32_t device_info_cfg = 0x0224fc;
inline constexpr Field cfg_version{3, 0};
inline constexpr Field cfg_max_devices{15, 4};
inline constexpr Field cfg_max_rows_per_device{19, 16};
inline constexpr Field cfg_num_rows{31, 20};

inline constexpr std::uint32_t device_info2 = 0x022800;
inline constexpr std::uint32_t die_stride = 0x010000; // GB100's second die: 0x324fc, 0x32800
inline constexpr Field chain = bit(31);

inline constexpr Field row0_fault_id{10, 0};
inline constexpr Field row0_group_id{15, 11};
inline constexpr Field row0_instance_id{23, 16};
inline constexpr Field row0_type{30, 24};

inline constexpr Field row1_reset_id{7, 0};
inline constexpr Field row1_pri_base{25, 8}; // address >> 8
inline constexpr Field row1_is_engine = bit(30);

inline constexpr Field row2_rleng_id{1, 0};
inline constexpr Field row2_runlist_pri_base{25, 10}; // address >> 10

} // namespace v2

} // namespace nvmodel::regs::ptop
