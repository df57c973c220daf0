// SPDX-License-Identifier: MIT OR GPL-2.0
// Where a driver puts things: its own structures close together, what programs use elsewhere.
#pragma once

#include "board/generation.hpp"
#include "driver/allocator.hpp"
#include "memory/memory.hpp"
#include "mmu/page.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nvmodel {

/// Guest-physical memory that nothing else in the guest uses.
struct SystemMemoryRange {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
};

class DriverMemory {
  public:
    /// `structures` is in video memory, and empty where there is none.
    DriverMemory(Memory &memory, MemoryForm form, Allocator structures,
                 const std::optional<SystemMemoryRange> &system);

    [[nodiscard]] Memory &memory() { return memory_; }
    [[nodiscard]] const Memory &memory() const { return memory_; }

    /// Memory for a structure, zeroed if it is system memory. Where memory is unified, that is what
    /// it always is, under the aperture that the GPU knows it by. Throws ConfigError if there is
    /// none left.
    PhysicalAddress take(Aperture aperture, std::uint64_t size, std::uint64_t alignment);
    [[nodiscard]] std::uint64_t video_begin() const { return video_begin_; }
    /// The end of what was taken of video memory.
    [[nodiscard]] std::uint64_t video_end() const { return video_.next(); }

    /// Memory that programs use. It is never read: in video memory it may be given out more
    /// than once, and elsewhere there is none behind.
    mmu::PageAddress take_data(mmu::PageAperture aperture, std::uint64_t page_size);
    /// The aperture (of a structure or of a page) that there is here for the one that was wanted.
    template <typename AnyAperture>
    [[nodiscard]] AnyAperture known_as(AnyAperture wanted) const {
        if (form_ == MemoryForm::unified_as_video)
            return AnyAperture::video;
        return form_ == MemoryForm::unified && wanted == AnyAperture::video ? AnyAperture::coherent
                                                                            : wanted;
    }
    /// Whether there may be memory of other GPUs.
    [[nodiscard]] bool has_peers() const { return form_ == MemoryForm::video; }

    /// Throws ConfigError if there is no memory.
    void write(PhysicalAddress at, std::span<const std::uint32_t> words) {
        memory_.must_write(at, std::as_bytes(words));
    }

  private:
    Memory &memory_;
    MemoryForm form_;
    Allocator video_;
    std::uint64_t video_begin_;
    std::optional<Allocator> system_;
    std::uint64_t next_data_;
};

} // namespace nvmodel
