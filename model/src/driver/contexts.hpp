// SPDX-License-Identifier: MIT OR GPL-2.0
// Engine contexts in memory: for graphics the image and its headers, for another engine a buffer
// that only this engine reads.
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
    std::uint64_t va = 0;         // virtual address of the image or buffer
    PhysicalAddress address = {}; // place of the image or buffer
    bool graphics = false;
    // The virtual address of the first subcontext's header, for graphics from Volta on.
    std::uint64_t headers_va = 0;
    std::vector<PhysicalAddress> headers = {}; // by subcontext

    /// The virtual address that an instance block's engine pointer has.
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
    /// Reserves a range as high as the pointer of an instance block reaches.
    [[nodiscard]] std::uint64_t reserve(std::span<Space *const> spaces, std::uint64_t size) const;
    PhysicalAddress take_mapped(std::uint64_t va, std::uint64_t size,
                                std::span<Space *const> spaces);

    const Board &board_;
    DriverMemory &memory_;
    std::uint32_t next_id_ = 1;
};

} // namespace nvmodel
