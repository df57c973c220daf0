// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_RUNLIST (one block per runlist) and NV_CHRAM (one array per runlist), Ampere and newer; for
// Blackwell GB20x see regs/runlist_gb202.hpp.
// Source: open-gpu-doc manuals/ampere/ga100/dev_runlist.ref.txt; base alignment:
// open-gpu-kernel-modules published/ampere/{ga100,ga102}/dev_ram.h; ENGINE_ID: nvgpu
// hw_runlist_ga10b.h; GB10x: nvgpu hw_runlist_gb10b.h. No manual of Ada, Hopper and GB100 is
// public: the resource manager uses the same functions.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::runlist {

// Relative to the runlist's PRI base.
inline constexpr std::uint32_t size = 0x400;

inline constexpr std::uint32_t config = 0x000;
inline constexpr std::uint32_t config_reset = 0x00000010;
inline constexpr std::uint32_t channel_config = 0x004;
inline constexpr Field channel_config_log2{3, 0};
inline constexpr Field channel_config_chram{31, 4}; // address >> 4
inline constexpr std::uint32_t doorbell_config = 0x008;
inline constexpr Field doorbell_config_id{31, 16};
inline constexpr std::uint32_t fb_config = 0x00c;
inline constexpr std::uint32_t pbdma_config = 0x010; // + 4i, i < 2
inline constexpr unsigned pbdma_config_count = 2;
inline constexpr Field pbdma_config_id{7, 0};
inline constexpr Field pbdma_config_base{25, 10}; // address >> 10
inline constexpr Field pbdma_config_valid = bit(31);
inline constexpr std::uint32_t acq_pretest = 0x020;
inline constexpr std::uint32_t acq_pretest_reset = 0x8;
inline constexpr std::uint32_t idle_filter = 0x024;
inline constexpr std::uint32_t idle_filter_reset = 0x50;

inline constexpr std::uint32_t submit_base_lo = 0x080;
inline constexpr Field submit_base_lo_target{1, 0};
inline constexpr std::uint32_t submit_base_hi = 0x084;
inline constexpr Field submit_base_hi_ptr{7, 0};
inline constexpr Field submit_base_hi_ptr_gb10b{19, 0};
inline constexpr std::uint32_t submit = 0x088;
inline constexpr Field submit_length{15, 0};
inline constexpr Field submit_offset{31, 16};
inline constexpr std::uint32_t submit_info = 0x08c;
inline constexpr Field submit_info_tsgid{13, 0};
inline constexpr Field submit_info_tsgid_valid = bit(14);
inline constexpr Field submit_info_pending = bit(15);
inline constexpr Field submit_info_offset{31, 16};

inline constexpr std::uint32_t internal_doorbell = 0x090; // write only
inline constexpr Field internal_doorbell_chid{11, 0};
inline constexpr Field internal_doorbell_gfid{21, 16};
inline constexpr std::uint32_t sched_disable = 0x094;
inline constexpr Field sched_disable_runlist = bit(0);
inline constexpr std::uint32_t preempt = 0x098;
inline constexpr Field preempt_id{11, 0};
inline constexpr Field preempt_tsg_pending = bit(20);
inline constexpr Field preempt_runlist_pending = bit(21);
inline constexpr Field preempt_type{25, 24};
inline constexpr std::uint32_t preempt_type_runlist = 0; // up to Turing this was "channel"
inline constexpr std::uint32_t preempt_type_tsg = 1;

inline constexpr std::uint32_t intr_0 = 0x100; // write 1 to clear
inline constexpr Field intr_0_tsg_preempt_complete = bit(8);
inline constexpr Field intr_0_runlist_preempt_complete = bit(9);
inline constexpr Field intr_0_bad_tsg = bit(12);
inline constexpr std::uint32_t intr_0_w1c_mask = 0x000013f7;
inline constexpr std::uint32_t info = 0x108;
inline constexpr Field info_eng_idle = bit(8);
inline constexpr Field info_runlist_idle = bit(9);
inline constexpr Field info_fetch_busy = bit(10); // not on Turing
inline constexpr Field info_acquire_still_pending = bit(12);
inline constexpr std::uint32_t intr_bad_tsg = 0x174;
inline constexpr std::uint32_t bad_tsg_none = 0;
inline constexpr std::uint32_t bad_tsg_zero_length = 1;
inline constexpr std::uint32_t bad_tsg_max_length = 2;
inline constexpr std::uint32_t bad_tsg_runlist_overflow = 3;
inline constexpr std::uint32_t bad_tsg_expected_channel = 4;
inline constexpr std::uint32_t bad_tsg_expected_header = 5;

// Per engine slot (RLENG_ID) i < 3: + 64i.
inline constexpr unsigned engine_slots = 3;
inline constexpr std::uint32_t engine_stride = 0x40;
inline constexpr std::uint32_t engine_status0 = 0x200;
inline constexpr Field engine_status0_tsgid{11, 0};
inline constexpr Field engine_status0_ctx{15, 13};
inline constexpr std::uint32_t ctx_save = 5; // swapped up to Turing
inline constexpr std::uint32_t ctx_load = 6;
inline constexpr Field engine_status0_next_tsgid{27, 16};
inline constexpr Field engine_status0_faulted = bit(30);
inline constexpr Field engine_status0_busy = bit(31);
inline constexpr std::uint32_t engine_status1 = 0x204;
inline constexpr Field engine_status1_intr_id{20, 16};
inline constexpr std::uint32_t engine_status_channel = 0x208; // + 4j, j = runqueue
inline constexpr Field engine_status_channel_chid{11, 0};
inline constexpr Field engine_status_channel_valid = bit(15);
inline constexpr Field engine_status_channel_next_chid{27, 16};
inline constexpr Field engine_status_channel_next_valid = bit(31);
inline constexpr std::uint32_t engine_status_inst = 0x210; // _hi + 4
inline constexpr std::uint32_t engine_status_next_inst = 0x218;
inline constexpr Field inst_target{1, 0};
inline constexpr Field inst_valid = bit(11);
inline constexpr Field inst_ptr_lo{31, 12};
inline constexpr std::uint32_t ctxsw_timeout_config = 0x220;
inline constexpr std::uint32_t ctxsw_timeout_config_reset = 0x803fffff;
inline constexpr std::uint32_t ctxsw_timeout_info = 0x224;
inline constexpr std::uint32_t engine_status_debug = 0x228;
inline constexpr Field engine_status_debug_engine_id{29, 24};

inline constexpr std::uint32_t virtual_channel_cfg = 0x300; // + 4i, fields: regs/usermode.hpp
inline constexpr unsigned virtual_channel_cfg_count = 64;
inline constexpr std::uint32_t virtual_channel_cfg_reset = 0x7ff;
inline constexpr std::uint32_t virtual_channel_cfg_reset_gb10b = 0x800;

} // namespace nvmodel::regs::runlist

namespace nvmodel::regs::chram {

inline constexpr std::uint32_t stride = 4;
inline constexpr Field write_control = bit(0); // 0: ones set bits, 1: ones clear them
inline constexpr Field enable = bit(1);
inline constexpr Field next = bit(2);
inline constexpr Field busy = bit(3);
inline constexpr Field pbdma_faulted = bit(4);
inline constexpr Field eng_faulted = bit(5);
inline constexpr Field on_pbdma = bit(6);
inline constexpr Field on_eng = bit(7);
inline constexpr Field pending = bit(8);
inline constexpr Field ctx_reload = bit(9);
inline constexpr Field pbdma_busy = bit(10);
inline constexpr Field eng_busy = bit(11);
inline constexpr Field acquire_fail = bit(12);

inline constexpr std::uint32_t update_enable = 0x00000002;
inline constexpr std::uint32_t update_disable = 0x00000003;

} // namespace nvmodel::regs::chram
