// SPDX-License-Identifier: MIT OR GPL-2.0
// The words of a channel's instance block, as a driver writes them.
#pragma once

#include "board/board.hpp"
#include "memory/aperture.hpp"
#include "regs/ramin.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace nvmodel {

struct InstanceBlock {
    unsigned channel = 0;
    unsigned engine_id = 0;
    unsigned subcontext = 0;
    Timeslice timeslice;
    PhysicalAddress userd;
    std::vector<PhysicalAddress> page_directories; // by subcontext
    std::optional<std::uint64_t> engine_context;   // virtual address; copy engines have none
    std::uint64_t pushbuffer_ring = 0;             // virtual address of GP_BASE
    std::uint32_t gp_get = 0;
    std::uint32_t gp_put = 0;
};

using InstanceWords = std::array<std::uint32_t, regs::ramin::words>;

InstanceWords encode_instance(const Generation &generation, const InstanceBlock &block);

} // namespace nvmodel
