// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU driver for a workload: it builds its structures in memory, sets up channels and submits
// runlists. It uses the very registers that the guest sees, but its accesses take no time and are
// not counted.
#pragma once

#include "board/board.hpp"
#include "device/chip.hpp"
#include "device/corruption.hpp"
#include "driver/bars.hpp"
#include "driver/contexts.hpp"
#include "driver/driver_memory.hpp"
#include "driver/instance_block.hpp"
#include "driver/space.hpp"
#include "memory/memory.hpp"
#include "workload/plan.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace nvmodel {

/// The part of a driver that depends on the generation: the registers for channels and lists.
class DriverPort;

class Driver {
  public:
    /// Builds and starts everything. Throws ConfigError if there is no memory for it.
    Driver(const Board &board, const Plan &plan, Chip &chip, Memory &memory,
           const std::optional<SystemMemoryRange> &system_memory);
    ~Driver();
    Driver(const Driver &) = delete;
    Driver &operator=(const Driver &) = delete;

    /// Submits a runlist again, from a copy at another address. Throws ConfigError if the board has
    /// no such runlist.
    void resubmit(unsigned runlist);

    /// Submits the next version of a runlist: its first entry moves to the end, and all its TSGs
    /// have a timeslice that marks the version (docs/model.md). Returns the version; throws
    /// ConfigError as resubmit() does.
    unsigned rotate(unsigned runlist);

    /// Enables channels of TSGs (indices into the plan), or disables them and takes their TSGs off
    /// their engines.
    void set_enabled(std::span<const std::size_t> channels, bool enabled);

    /// Returns from the context of a TSG (an index into the plan; it has a graphics context) how
    /// its kernels are interrupted.
    [[nodiscard]] ComputePreemption compute_preemption(std::size_t tsg) const;
    void set_compute_preemption(std::size_t tsg, ComputePreemption mode);

    /// Submits the channels' runlists again, without the channels or with them.
    void set_listed(std::span<const std::size_t> channels, bool listed);

    /// Moves the PRAMIN window as a driver does for its own accesses, each time to another place.
    void move_window();

    // --- the driver's structures ---

    struct BuiltChannel {
        PhysicalAddress instance;
        InstanceBlock block; // the contents of the instance block
        const EngineContext *context = nullptr;
    };
    struct List {
        std::vector<std::uint32_t> words;
        std::vector<PhysicalAddress> buffers; // used in turn
        std::size_t used = 0;                 // index of the buffer that was submitted last
        unsigned version = 0;                 // 0: the workload's list

        [[nodiscard]] PhysicalAddress in_use() const { return buffers[used]; }
    };

    /// The channels, in the plan's order.
    [[nodiscard]] const std::vector<BuiltChannel> &channels() const { return channels_; }
    [[nodiscard]] const std::map<unsigned, List> &lists() const { return lists_; }
    [[nodiscard]] const std::map<std::string, Space> &spaces() const { return spaces_; }
    [[nodiscard]] const BarSpaces &bars() const { return *bars_; }
    /// All structures that hardware reads.
    [[nodiscard]] std::vector<Structure> structures() const;

  private:
    void park_window();
    void number_tpcs_in_hardware();
    void set_big_page();
    void take_channel_memory();
    void build_bars();
    [[nodiscard]] mmu::Format format_of(const AddressSpaceSpec &spec) const;
    const EngineContext *context_of(std::size_t index, std::span<Space *const> spaces,
                                    ContextBuilder &builder);
    void build_channel(std::size_t index, ContextBuilder &builder);
    void reserve_list(List &list, const std::vector<PlannedEntry> &entries, unsigned buffers);
    List &find_list(unsigned runlist);
    void submit_in_next_buffer(unsigned runlist, List &list);
    [[nodiscard]] unsigned entries_of(const PlannedEntry &entry) const;
    /// Encodes a version of a list.
    [[nodiscard]] std::vector<std::uint32_t> words_of(const std::vector<PlannedEntry> &entries,
                                                      unsigned version) const;
    void append(std::vector<std::uint32_t> &words, const PlannedEntry &entry,
                unsigned version) const;
    void append_channel(std::vector<std::uint32_t> &words, std::size_t channel) const;
    void submit(unsigned runlist, List &list);
    void start_channel(std::size_t index);
    [[nodiscard]] PhysicalAddress preemption_word(std::size_t tsg) const;

    const Board &board_;
    const Plan &plan_;
    Chip &chip_;
    DriverMemory memory_;
    std::unique_ptr<DriverPort> port_;
    std::map<std::string, Space> spaces_;
    std::list<EngineContext> contexts_; // channels refer to them
    std::map<std::size_t, const EngineContext *> context_of_tsg_;
    std::vector<BuiltChannel> channels_;
    std::optional<BarSpaces> bars_;
    std::map<unsigned, List> lists_;
    std::set<std::size_t> unlisted_; // channels that are off their lists now
    unsigned window_moves_ = 0;
};

} // namespace nvmodel
