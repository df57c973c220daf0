// SPDX-License-Identifier: MIT OR GPL-2.0
// Runlist entries in memory.
// 8-byte form (Kepler..Pascal): nvgpu hw_ram_{gk20a,gm20b,gp10b}.h. 16-byte form (Volta+):
// open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/dev_ram.ref.txt.
#pragma once

#include "base/bits.hpp"
#include "base/time.hpp"

namespace nvmodel::regs::ramrl {

/// One timeslice unit: timeslice = (TIMEOUT << SCALE) units; 0 counts as one unit.
inline constexpr Ns timeslice_unit_ns = 1024;

namespace w8 {

inline constexpr unsigned words = 2;
inline constexpr Field id{11, 0};
inline constexpr Field type_tsg = bit(13);
inline constexpr Field timeslice_scale{17, 14};
inline constexpr Field timeslice_timeout{25, 18};
inline constexpr Field tsg_length{31, 26};
inline constexpr unsigned tsg_length_max = 32;

} // namespace w8

namespace w16 {

inline constexpr unsigned words = 4;
inline constexpr Field w0_type_tsg = bit(0);
inline constexpr Field w0_timeslice_scale{19, 16};
inline constexpr Field w0_timeslice_timeout{31, 24};
inline constexpr Field w1_tsg_length{7, 0};
inline constexpr unsigned tsg_length_max = 128;
inline constexpr Field w0_runqueue = bit(1);
inline constexpr Field w0_inst_target{5, 4};
inline constexpr Field w0_userd_target{7, 6};
inline constexpr Field w0_userd_ptr_lo{31, 8};
inline constexpr Field w2_id{11, 0};
inline constexpr Field w2_inst_ptr_lo{31, 12};
// Blackwell: nvgpu hw_ram_gb10b.h and hw_ram_gb20c.h.
inline constexpr Field w1_userd_ptr_hi_gb10b{19, 0};
inline constexpr Field w1_veid_gb20c{31, 26};
inline constexpr Field w3_inst_ptr_hi_gb10b{19, 0};
inline constexpr Field w3_casid_gb10b{31, 26};

} // namespace w16

} // namespace nvmodel::regs::ramrl
