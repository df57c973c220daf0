// SPDX-License-Identifier: MIT OR GPL-2.0
// What a GPU driver does for a workload: builds its structures in memory, sets up channels and
// submits runlists, through the very registers that the guest sees (but at no cost in time, and
// uncounted).
#pragma once

#include "board/board.hpp"
#include "device/chip.hpp"
#include "driver/allocator.hpp"
#include "memory/memory.hpp"
#include "workload/plan.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nvmodel {

/// Guest-physical memory that nobody else in the guest uses.
struct SystemMemoryRange {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
};

/// The part of a driver that depends on the generation: which registers take a channel or a list.
class DriverPort;

class Driver {
  public:
    /// Builds and starts everything. Throws ConfigError if there is no memory for it.
    Driver(const Board &board, const Plan &plan, Chip &chip, Memory &memory,
           const std::optional<SystemMemoryRange> &system_memory);
    ~Driver();
    Driver(const Driver &) = delete;
    Driver &operator=(const Driver &) = delete;

    /// Submits a runlist again, from a fresh copy at another address. Throws ConfigError if the
    /// board has no such runlist.
    void resubmit(unsigned runlist);

    /// Moves the PRAMIN window as a driver does for its own accesses: somewhere else each time.
    void move_window();

  private:
    struct ChannelMemory {
        PhysicalAddress instance;
        PhysicalAddress userd;
    };
    struct List {
        std::vector<std::uint32_t> words;
        std::vector<PhysicalAddress> buffers; // used in turn
        std::size_t used = 0;                 // index of the one submitted last
    };

    Allocator &allocator(Aperture aperture);
    PhysicalAddress page_directory(const std::string &address_space, Aperture aperture);
    void write_memory(PhysicalAddress at, std::span<const std::uint32_t> words);
    void park_window();
    void number_tpcs_in_hardware();
    void build_channel(const PlannedChannel &channel);
    void reserve_list(List &list, const std::vector<PlannedEntry> &entries);
    [[nodiscard]] unsigned entries_of(const PlannedEntry &entry) const;
    void append(std::vector<std::uint32_t> &words, const PlannedEntry &entry) const;
    void append_channel(std::vector<std::uint32_t> &words, std::size_t channel) const;
    void submit(unsigned runlist, List &list);
    void start_channel(std::size_t index);

    const Board &board_;
    const Plan &plan_;
    Chip &chip_;
    Memory &memory_;
    std::unique_ptr<DriverPort> port_;
    Allocator video_;
    std::optional<Allocator> system_;
    std::map<std::pair<std::string, Aperture>, PhysicalAddress> page_directories_;
    std::vector<ChannelMemory> channel_memory_; // as plan_.channels
    std::map<unsigned, List> lists_;
    unsigned window_moves_ = 0;
};

} // namespace nvmodel
