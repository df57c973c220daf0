// SPDX-License-Identifier: MIT OR GPL-2.0
// The address spaces of BAR1 and BAR2.
#pragma once

#include "board/board.hpp"
#include "device/chip.hpp"
#include "driver/driver_memory.hpp"
#include "mmu/address_space.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <list>
#include <span>
#include <vector>

namespace nvmodel {

class BarSpaces {
  public:
    struct Bar {
        unsigned number;
        mmu::AddressSpace tables;
        PhysicalAddress instance;
    };

    /// Builds the address spaces of the BARs that are used, and binds them, unless the BARs stay
    /// physical. `userds` are the places that programs reach through BAR1.
    BarSpaces(const Board &board, BarSetup setup, DriverMemory &memory, Chip &chip,
              std::span<const PhysicalAddress> userds);

    [[nodiscard]] const std::list<Bar> &bars() const { return bars_; }

  private:
    [[nodiscard]] bool halved() const;
    [[nodiscard]] std::uint64_t bar2_size() const;
    Bar &add(unsigned number, std::uint64_t bar_size);
    PhysicalAddress take(std::uint64_t size, std::uint64_t alignment);
    void fill_bar1(Bar &bar, std::span<const PhysicalAddress> userds);
    void map_own_tables(Bar &bar);
    void map_structures(Bar &bar, std::uint64_t room);
    void bind(Chip &chip);

    const Board &board_;
    BarSetup setup_;
    DriverMemory &memory_;
    mmu::Format format_;
    std::uint64_t parked_; // next free place within the parked PRAMIN window
    std::list<Bar> bars_;  // BAR1 if it is used, then BAR2
};

} // namespace nvmodel
