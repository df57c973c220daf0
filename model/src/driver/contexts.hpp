// SPDX-License-Identifier: MIT OR GPL-2.0
// Engine contexts in memory: for graphics the image and its headers, for other engines a buffer
// that only these read.
#pragma once

#include "board/board.hpp"
#include "driver/driver_memory.hpp"
#include "driver/space.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace nvmodel {

struct EngineContext {
    std::uint64_t va = 0;         // of the image, or of the buffer
    PhysicalAddress address = {}; // where that is
    bool graphics = false;
    std::uint64_t headers_va = 0;              // from Volta on, of graphics: the first subcontext's
    std::vector<PhysicalAddress> headers = {}; // by subcontext

    /// What an instance block leads to.
    [[nodiscard]] std::uint64_t pointer(unsigned subcontext) const;
    [[nodiscard]] PhysicalAddress header(unsigned subcontext) const {
        return headers.empty() ? address : headers.at(subcontext);
    }
};

/// Builds contexts, each mapped at the same address in all address spaces of its TSG.
class ContextBuilder {
  public:
    ContextBuilder(const Board &board, DriverMemory &memory) : board_(board), memory_(memory) {}

    EngineContext graphics(const ContextSpec &spec, std::span<Space *const> spaces);
    EngineContext buffer(std::span<Space *const> spaces);

  private:
    /// As far up as an instance block's pointer reaches.
    [[nodiscard]] std::uint64_t reserve(std::span<Space *const> spaces, std::uint64_t size) const;
    PhysicalAddress take_mapped(std::uint64_t va, std::uint64_t size,
                                std::span<Space *const> spaces);

    const Board &board_;
    DriverMemory &memory_;
    std::uint32_t next_id_ = 1;
};

} // namespace nvmodel
