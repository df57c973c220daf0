// SPDX-License-Identifier: MIT OR GPL-2.0
// Blackwell GB20x has the registers of NV_RUNLIST at other places. This table has the new place of
// each known register. Source: nvgpu hw_runlist_gb20c.h; PREEMPT also open-gpu-kernel-modules
// published/blackwell/gb202/dev_runlist.h (its functions take GB202 to GB20C alike). INFO,
// ACQ_PRETEST, IDLE_FILTER, INTERNAL_DOORBELL, ENGINE_STATUS_CHANNEL and ENGINE_STATUS_INST have no
// public place there.
#pragma once

#include "regs/runlist.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace nvmodel::regs::runlist {

inline constexpr unsigned engine_slots_gb202 = 2;

struct Moved {
    std::uint32_t ga100;
    std::uint32_t gb202;
    unsigned count = 1;
    std::uint32_t ga100_stride = 4;
    std::uint32_t gb202_stride = 4;
};

inline constexpr std::array moved_gb202{
    Moved{submit_base_lo, 0x000},
    Moved{submit_base_hi, 0x004},
    Moved{submit, 0x008},
    Moved{submit_info, 0x00c},
    Moved{sched_disable, 0x010},
    Moved{preempt, 0x014},
    Moved{intr_0, 0x040},
    Moved{intr_bad_tsg, 0x08c},
    Moved{engine_status0, 0x090, engine_slots_gb202, engine_stride, 0x40},
    Moved{engine_status1, 0x094, engine_slots_gb202, engine_stride, 0x40},
    Moved{engine_status_debug, 0x0b0, engine_slots_gb202, engine_stride, 0x40},
    Moved{config, 0x144},
    Moved{channel_config, 0x148},
    Moved{doorbell_config, 0x14c},
    Moved{fb_config, 0x150},
    Moved{pbdma_config, 0x154, pbdma_config_count},
    Moved{ctxsw_timeout_config, 0x230, engine_slots_gb202, engine_stride, 8},
    Moved{ctxsw_timeout_info, 0x234, engine_slots_gb202, engine_stride, 8},
    Moved{virtual_channel_cfg, 0x280, virtual_channel_cfg_count},
};

/// Returns GA100's offset of the register that GB20x has at an offset.
constexpr std::optional<std::uint32_t> from_gb202(std::uint32_t at) {
    for (const Moved &reg : moved_gb202)
        for (unsigned i = 0; i < reg.count; ++i)
            if (at == reg.gb202 + i * reg.gb202_stride)
                return reg.ga100 + i * reg.ga100_stride;
    return std::nullopt;
}

/// Returns GB20x's offset of the register that GA100 has at an offset.
constexpr std::optional<std::uint32_t> to_gb202(std::uint32_t at) {
    for (const Moved &reg : moved_gb202)
        for (unsigned i = 0; i < reg.count; ++i)
            if (at == reg.ga100 + i * reg.ga100_stride)
                return reg.gb202 + i * reg.gb202_stride;
    return std::nullopt;
}

} // namespace nvmodel::regs::runlist
