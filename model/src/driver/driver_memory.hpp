// SPDX-License-Identifier: MIT OR GPL-2.0
// The places of a driver's memory: its own structures are close together, memory of programs is
// elsewhere.
#pragma once

#include "board/generation.hpp"
#include "driver/allocator.hpp"
#include "memory/memory.hpp"
#include "mmu/page.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nvmodel {

/// Guest-physical memory that the rest of the guest does not use.
struct SystemMemoryRange {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
};

class DriverMemory {
  public:
    /// `structures` is in video memory, and empty if there is no video memory.
    DriverMemory(Memory &memory, MemoryForm form, Allocator structures,
                 const std::optional<SystemMemoryRange> &system);

    [[nodiscard]] Memory &memory() { return memory_; }
    [[nodiscard]] const Memory &memory() const { return memory_; }

    /// Takes memory for a structure, zeroed if it is system memory. Where memory is unified, all of
    /// it is system memory, under the aperture that the GPU knows it by. Throws ConfigError if
    /// there is none left.
    PhysicalAddress take(Aperture aperture, std::uint64_t size, std::uint64_t alignment);
    [[nodiscard]] std::uint64_t video_begin() const { return video_begin_; }
    /// The end of the video memory that was taken.
    [[nodiscard]] std::uint64_t video_end() const { return video_.next(); }

    /// Takes memory for programs. It is never read: in video memory it may be given out more than
    /// once, and elsewhere there is no memory behind it.
    mmu::PageAddress take_data(mmu::PageAperture aperture, std::uint64_t page_size);
    /// The aperture (of a structure or of a page) that the board has in place of the wanted one.
    template <typename AnyAperture>
    [[nodiscard]] AnyAperture known_as(AnyAperture wanted) const {
        if (form_ == MemoryForm::unified_as_video)
            return AnyAperture::video;
        return form_ == MemoryForm::unified && wanted == AnyAperture::video ? AnyAperture::coherent
                                                                            : wanted;
    }
    /// Returns whether there may be memory of other GPUs.
    [[nodiscard]] bool has_peers() const { return form_ == MemoryForm::video; }

    /// Writes words. Throws ConfigError if there is no memory.
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
