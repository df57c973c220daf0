// SPDX-License-Identifier: MIT OR GPL-2.0
// The chip: Host, and all registers of BAR0. Every reset makes a new one.
#pragma once

#include "blocks/address_map.hpp"
#include "blocks/bus.hpp"
#include "blocks/copy.hpp"
#include "blocks/doorbells.hpp"
#include "blocks/mmu_control.hpp"
#include "blocks/modes.hpp"
#include "blocks/pfifo.hpp"
#include "blocks/timer.hpp"
#include "board/board.hpp"
#include "device/context_firmware.hpp"
#include "device/instance_space.hpp"
#include "host/host.hpp"
#include "memory/memory.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace nvmodel {

class Chip {
  public:
    /// Keeps references to all arguments. Throws ConfigError if the board's blocks overlap.
    Chip(const Board &board, Memory &memory, const Modes &modes);
    Chip(const Chip &) = delete;
    Chip &operator=(const Chip &) = delete;

    [[nodiscard]] Host &host() { return host_; }
    [[nodiscard]] const Host &host() const { return host_; }
    [[nodiscard]] const BusState &bus() const { return bus_; }
    /// The view that hardware has of instance blocks.
    [[nodiscard]] const InstanceSpaces &instance_spaces() const { return instance_spaces_; }
    /// The size of big pages in version 1, where instance blocks do not have it.
    [[nodiscard]] std::uint64_t big_page() const { return mmu_control_.big_page(); }

    /// The part of BAR0 that has the offset, or nullptr. PRAMIN has no register block.
    [[nodiscard]] const AddressMap::Range *find(std::uint64_t offset) const {
        return map_.find(offset);
    }

    /// Accesses a register: 32 bits at a multiple of 4. Not for PRAMIN.
    ReadAnswer read(std::uint32_t offset);
    Answer write(std::uint32_t offset, std::uint32_t value);

  private:
    template <typename Block>
    Block &own(std::unique_ptr<Block> block);
    void map(std::uint32_t begin, std::uint32_t end, BlockName name, RegisterBlock &block);
    void map_bus(const Generation &generation);
    void map_topology(const Board &board);
    void map_memory_size(const Board &board);
    void map_runlists(const Board &board);
    void map_pfifo(const Board &board);
    void map_doorbells(const Board &board);

    std::unique_ptr<CopyBlock> copy_;
    Host host_;
    BusState bus_;
    MmuControlBlock mmu_control_;
    ModeBlock modes_;
    InstanceSpaces instance_spaces_;
    ContextFirmware firmware_;
    FifoErrors fifo_errors_;
    AddressMap map_;
    std::vector<std::unique_ptr<RegisterBlock>> blocks_;
    std::vector<RunlistBlock *> runlist_blocks_;
    std::unique_ptr<DoorbellDecoder> doorbell_;
    TimerBlock *timer_ = nullptr;
};

} // namespace nvmodel
