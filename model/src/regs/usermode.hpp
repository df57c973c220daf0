// SPDX-License-Identifier: MIT OR GPL-2.0
// Doorbells, which announce work to Host. Volta: open-gpu-doc
// manuals/volta/gv100/dev_usermode.ref.txt. Turing: manuals/turing/tu104/ dev_usermode.ref.txt and
// dev_ctrl.ref.txt. Ampere+: manuals/ampere/ga100/dev_ctrl.ref.txt and open-gpu-kernel-modules
// published/ampere/ga100/dev_vm.h.
#pragma once

#include "base/bits.hpp"

namespace nvmodel::regs::usermode {

// Volta, Turing. Undefined registers of this page read 0.
inline constexpr std::uint32_t range_begin = 0x810000;
inline constexpr std::uint32_t range_end = 0x820000;
// Turing+: the same page inside the function window at 0xb80000 + 0x30000.
inline constexpr std::uint32_t vf_range_begin = 0xbb0000;
inline constexpr std::uint32_t vf_range_end = 0xbc0000;

// Offsets relative to the page.
inline constexpr std::uint32_t time_0 = 0x80;
inline constexpr std::uint32_t time_1 = 0x84;
inline constexpr std::uint32_t doorbell = 0x90; // NOTIFY_CHANNEL_PENDING on Volta

inline constexpr Field turing_chid{11, 0};
inline constexpr Field turing_runlist{22, 16};
inline constexpr std::uint32_t turing_runlist_any = 15;
inline constexpr Field ampere_vector{11, 0};
inline constexpr Field ampere_runlist{22, 16};
inline constexpr Field ampere_gsp_disable = bit(31);
// open-gpu-kernel-modules published/blackwell/gb202/dev_vm.h.
inline constexpr Field gb20x_runlist_enable = bit(30);

// NV_CTRL. Turing: the gate in front of a function's doorbells; function 0 is the real one.
inline constexpr std::uint32_t ctrl_begin = 0xb64000;
inline constexpr std::uint32_t ctrl_end = 0xb66000;
inline constexpr std::uint32_t ctrl_doorbell = 0xb64000; // GA100+: DOORBELL(0)
inline constexpr std::uint32_t turing_virtual_channel_cfg = 0xb65000;
inline constexpr unsigned turing_virtual_channel_cfg_count = 64;

// VIRTUAL_CHANNEL_CFG has these fields on Turing (NV_CTRL) and GA100 (NV_RUNLIST) alike.
inline constexpr Field vcfg_mask{11, 0};
inline constexpr Field vcfg_set{27, 16};
inline constexpr Field vcfg_pending_enable = bit(31);
// From GB10x on: COUNT ids from BASE on.
inline constexpr Field vcfg_count{11, 0};
inline constexpr Field vcfg_base{26, 16};

} // namespace nvmodel::regs::usermode
