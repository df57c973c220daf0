// SPDX-License-Identifier: MIT OR GPL-2.0
// Where a driver puts things: its own structures close together, what programs use elsewhere.
#pragma once

#include "driver/allocator.hpp"
#include "memory/memory.hpp"
#include "mmu/page.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nvmodel {

/// Guest-physical memory that nobody else in the guest uses.
struct SystemMemoryRange {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
};

class DriverMemory {
  public:
    /// `structures` is in video memory.
    DriverMemory(Memory &memory, Allocator structures,
                 const std::optional<SystemMemoryRange> &system);

    [[nodiscard]] Memory &memory() { return memory_; }

    /// Memory for a structure. Throws ConfigError if there is none left.
    PhysicalAddress take(Aperture aperture, std::uint64_t size, std::uint64_t alignment);
    [[nodiscard]] std::uint64_t video_begin() const { return video_begin_; }
    /// The end of what was taken of video memory.
    [[nodiscard]] std::uint64_t video_end() const { return video_.next(); }

    /// Memory that programs use. Nobody looks into it: in video memory it may be given out more
    /// than once, and elsewhere there is none behind.
    mmu::PageAddress take_data(mmu::PageAperture aperture, std::uint64_t page_size);

    /// Throws ConfigError if there is no memory.
    void write(PhysicalAddress at, std::span<const std::uint32_t> words) {
        memory_.must_write(at, std::as_bytes(words));
    }

  private:
    Memory &memory_;
    Allocator video_;
    std::uint64_t video_begin_;
    std::optional<Allocator> system_;
    std::uint64_t next_data_;
};

} // namespace nvmodel
