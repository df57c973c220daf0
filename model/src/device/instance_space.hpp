// SPDX-License-Identifier: MIT OR GPL-2.0
// Address spaces as hardware finds them in an instance block.
#pragma once

#include "blocks/bus.hpp"
#include "board/board.hpp"
#include "memory/memory.hpp"
#include "mmu/format.hpp"

#include <cstdint>
#include <optional>

namespace nvmodel {

struct FoundSpace {
    PhysicalAddress root;
    mmu::Format format;
    std::uint64_t last = ~std::uint64_t{0}; // the last valid address

    /// Translates an address; nothing if it is not mapped, or leads to another GPU.
    [[nodiscard]] std::optional<PhysicalAddress> translate(const Memory &memory,
                                                           std::uint64_t va) const;
};

class InstanceSpaces {
  public:
    /// `big_page` is the size of big pages in version 1, where instance blocks do not have it.
    InstanceSpaces(const Generation &generation, const Memory &memory,
                   const std::uint64_t &big_page)
        : generation_(generation), memory_(memory), big_page_(big_page) {}

    /// Finds the address space of Host, copy and video engines, and BARs. Nothing if the block has
    /// none.
    [[nodiscard]] std::optional<FoundSpace> base(PhysicalAddress instance) const;
    /// Finds the address space of compute and graphics: that of the block's own subcontext, if it
    /// is valid.
    [[nodiscard]] std::optional<FoundSpace> graphics(PhysicalAddress instance) const;

    /// Translates an offset into BAR1 or BAR2.
    [[nodiscard]] std::optional<PhysicalAddress>
    behind_bar(const BarBinding &bar, std::uint64_t offset, std::uint64_t bar_size) const;

  private:
    [[nodiscard]] std::uint32_t word(PhysicalAddress instance, unsigned n) const;
    [[nodiscard]] std::optional<FoundSpace> directory(std::uint32_t lo, std::uint32_t hi) const;

    const Generation &generation_;
    const Memory &memory_;
    const std::uint64_t &big_page_;
};

} // namespace nvmodel
