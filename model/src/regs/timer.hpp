// SPDX-License-Identifier: MIT OR GPL-2.0
// NV_PTIMER: 64-bit nanoseconds, 32 ns steps.
// Source: open-gpu-kernel-modules published/maxwell/gm107/dev_timer.h; copies for user mode:
// open-gpu-doc manuals/volta/gv100/dev_usermode.ref.txt, manuals/turing/tu104/dev_vm.ref.txt.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::timer {

inline constexpr std::uint32_t range_begin = 0x009000;
inline constexpr std::uint32_t range_end = 0x00a000;

inline constexpr std::uint32_t time_0 = 0x009400;
inline constexpr std::uint32_t time_1 = 0x009410;
inline constexpr std::uint32_t time_0_mask = 0xffffffe0; // bits 4:0 read 0
inline constexpr std::uint32_t time_1_mask = 0x1fffffff;

} // namespace nvmodel::regs::timer
