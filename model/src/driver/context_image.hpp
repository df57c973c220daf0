// SPDX-License-Identifier: MIT OR GPL-2.0
// The words of a graphics context's headers, as a driver writes them.
#pragma once

#include "board/board.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <vector>

namespace nvmodel {

struct ContextImage {
    std::uint32_t id = 0;
    unsigned gpcs = 0;
    GraphicsPreemption graphics = GraphicsPreemption::wfi;
    ComputePreemption compute = ComputePreemption::cta;
    std::uint64_t preemption_buffer = 0; // virtual address, if a mode needs one
};

/// Encodes the main and the local header.
std::vector<std::uint32_t> encode_context_image(const ContextTraits &traits,
                                                const ContextImage &image);
/// Encodes the header that a subcontext's engine pointer leads to, from Volta on.
std::vector<std::uint32_t> encode_veid_header(const ContextTraits &traits, std::uint64_t image_va);

} // namespace nvmodel
