// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PFIFO and NV_PCCSR, Kepler..Turing. Source: open-gpu-doc manuals/volta/gv100/dev_fifo.ref.txt
// and manuals/turing/tu104/ dev_fifo.ref.txt; registers that Pascal has as well: nvgpu
// hw_fifo_gp106.h, hw_ccsr_gp106.h.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::fifo {

inline constexpr std::uint32_t range_begin = 0x002000;
inline constexpr std::uint32_t range_end = 0x004000;

inline constexpr std::uint32_t cfg0 = 0x2004;
inline constexpr Field cfg0_num_pbdma{7, 0};
inline constexpr Field cfg0_pbdma_fault_id{23, 16}; // Volta, Turing
inline constexpr std::uint32_t cfg0_pbdma_fault_base = 32;
inline constexpr std::uint32_t cfg1 = 0x2008; // Volta, Turing: number of channels
inline constexpr std::uint32_t cfg2 = 0x200c; // Volta, Turing: Host class

inline constexpr std::uint32_t intr_0 = 0x2100; // write 1 to clear
inline constexpr Field intr_0_sched_error = bit(8);
inline constexpr std::uint32_t intr_bind_error = 0x252c;
inline constexpr std::uint32_t bind_error_bind_while_bound = 0x1;
inline constexpr std::uint32_t bind_error_unbind_while_running = 0x3;
inline constexpr std::uint32_t bind_error_invalid_target = 0x6;
inline constexpr std::uint32_t intr_sched_error = 0x254c;
inline constexpr std::uint32_t sched_error_bad_tsg = 0x20;

// Scheme A (Kepler..Volta): one submit port, a read-back pair per runlist.
inline constexpr std::uint32_t runlist_base = 0x2270;
inline constexpr Field runlist_base_ptr{27, 0}; // address >> 12
inline constexpr Field runlist_base_target{29, 28};
inline constexpr std::uint32_t runlist = 0x2274;
inline constexpr Field runlist_length{15, 0};
inline constexpr Field runlist_id{23, 20};
inline constexpr std::uint32_t eng_runlist_base = 0x2280; // + 8i
inline constexpr std::uint32_t eng_runlist = 0x2284;      // + 8i
inline constexpr Field eng_runlist_pending = bit(20);

// Scheme B (Turing): a set of registers per runlist.
inline constexpr std::uint32_t tu_base_lo = 0x2b00; // + 16i
inline constexpr Field tu_base_lo_target{1, 0};
inline constexpr std::uint32_t tu_base_hi = 0x2b04; // + 16i
inline constexpr Field tu_base_hi_ptr{7, 0};
inline constexpr std::uint32_t tu_submit = 0x2b08;      // + 16i
inline constexpr std::uint32_t tu_submit_info = 0x2b0c; // + 16i
inline constexpr std::uint32_t tu_info = 0x3400;        // + 4i

inline constexpr std::uint32_t pbdma_map = 0x2390; // + 4i

// Default timeslices: TIMEOUT 7:0, TIMESCALE 15:12, ENABLE 28 (nvgpu hw_fifo_gk20a.h,
// hw_fifo_gv100.h; envytools rnndb/fifo/gf100_pfifo.xml).
inline constexpr std::uint32_t runlist_timeslice = 0x2310; // + 4 * runlist; Kepler
inline constexpr std::uint32_t runlist_timeslice_reset = 0x10003080;
inline constexpr std::uint32_t pb_timeslice = 0x2350; // + 4 * PBDMA; Kepler..Volta
inline constexpr std::uint32_t pb_timeslice_reset = 0x10000010;

inline constexpr std::uint32_t error_sched_disable = 0x262c; // Kepler..Pascal: write 1 to clear
inline constexpr std::uint32_t sched_disable = 0x2630;       // bit per runlist
inline constexpr std::uint32_t preempt = 0x2634;
inline constexpr Field preempt_id{11, 0};
inline constexpr Field preempt_pending = bit(20);
inline constexpr Field preempt_type{25, 24};
inline constexpr std::uint32_t preempt_type_channel = 0;
inline constexpr std::uint32_t preempt_type_tsg = 1;
inline constexpr std::uint32_t runlist_preempt = 0x2638; // Volta, Turing: bit per runlist
inline constexpr std::uint32_t sched_status = 0x263c;    // Volta, Turing
inline constexpr Field sched_status_chsw = bit(1);
inline constexpr Field sched_status_runlist_fetch = bit(2);

inline constexpr std::uint32_t engine_status = 0x2640;       // + 8e
inline constexpr std::uint32_t engine_status_debug = 0x2644; // + 8e
inline constexpr Field engine_status_id{11, 0};
inline constexpr Field engine_status_id_is_tsg = bit(12);
inline constexpr Field engine_status_ctx{15, 13};
inline constexpr Field engine_status_next_id{27, 16};
inline constexpr Field engine_status_next_is_tsg = bit(28);
inline constexpr Field engine_status_faulted = bit(30);
inline constexpr Field engine_status_busy = bit(31);
inline constexpr std::uint32_t ctx_invalid = 0;
inline constexpr std::uint32_t ctx_valid = 1;
inline constexpr std::uint32_t ctx_load = 5; // swapped from Ampere on
inline constexpr std::uint32_t ctx_save = 6;
inline constexpr std::uint32_t ctx_switch = 7;

inline constexpr std::uint32_t pbdma_status = 0x3080; // + 4p, fields as engine_status
// Volta, Turing.
inline constexpr std::uint32_t pbdma_status_inst = 0x2790;       // + 4p
inline constexpr std::uint32_t engine_status_next_inst = 0x3000; // + 4e
inline constexpr std::uint32_t engine_status_inst = 0x3100;      // + 4e
inline constexpr Field inst_ptr{27, 0};                          // address >> 12
inline constexpr Field inst_target{29, 28};
inline constexpr Field inst_valid = bit(31);
// Turing.
inline constexpr std::uint32_t pbdma_status_userd = 0x2800;    // + 4p
inline constexpr std::uint32_t pbdma_status_userd_hi = 0x2880; // + 4p
inline constexpr Field userd_target{1, 0};

} // namespace nvmodel::regs::fifo

namespace nvmodel::regs::pccsr {

inline constexpr std::uint32_t range_begin = 0x800000;
inline constexpr std::uint32_t range_end = 0x810000;
inline constexpr std::uint32_t stride = 8;

inline constexpr std::uint32_t channel_inst = 0x0; // + 8i
inline constexpr Field inst_ptr{27, 0};            // address >> 12
inline constexpr Field inst_target{29, 28};
inline constexpr Field inst_bind = bit(31);

inline constexpr std::uint32_t channel = 0x4; // + 8i
inline constexpr Field enable = bit(0);
inline constexpr Field next = bit(1);
inline constexpr Field force_ctx_reload = bit(8);     // trigger
inline constexpr Field force_pending = bit(9);        // trigger
inline constexpr Field enable_set = bit(10);          // trigger
inline constexpr Field enable_clr = bit(11);          // trigger
inline constexpr Field runlist{19, 16};               // Kepler
inline constexpr Field force_pbdma_faulted = bit(20); // trigger, Turing
inline constexpr Field force_eng_faulted = bit(21);   // trigger, Turing
inline constexpr Field pbdma_faulted = bit(22);       // Volta, Turing: write 1 to clear
inline constexpr Field eng_faulted = bit(23);         // Volta, Turing: write 1 to clear
inline constexpr Field status{27, 24};
inline constexpr Field busy = bit(28);

} // namespace nvmodel::regs::pccsr
