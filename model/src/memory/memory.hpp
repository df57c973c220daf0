// SPDX-License-Identifier: MIT OR GPL-2.0
// All memory that the GPU can name by a physical address.
#pragma once

#include "memory/aperture.hpp"
#include "memory/guest_memory.hpp"
#include "memory/video_memory.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace nvmodel {

class Memory {
  public:
    explicit Memory(std::uint64_t video_size) : video_(video_size) {}
    /// System memory alone. `as_video`: the aperture of video memory means system memory, too.
    static Memory unified(bool as_video) {
        Memory memory(0);
        memory.video_is_system_ = as_video;
        return memory;
    }

    [[nodiscard]] const VideoMemory &video() const { return video_; }
    void clear_video() { video_.clear(); }

    /// Attaches system memory (not owned; nullptr detaches it).
    void attach(GuestMemory *guest) { guest_ = guest; }

    /// Returns whether an address is in the GPU's own memory; else it is in system memory.
    [[nodiscard]] bool in_video(PhysicalAddress at) const {
        return at.aperture == Aperture::video && !video_is_system_;
    }

    /// Return false if the range is not memory.
    [[nodiscard]] bool read(PhysicalAddress at, std::span<std::byte> to) const;
    [[nodiscard]] bool write(PhysicalAddress at, std::span<const std::byte> from);

    /// Writes a driver's structure. Throws ConfigError if the range is not memory.
    void must_write(PhysicalAddress at, std::span<const std::byte> from);

    /// Little-endian value of 1, 2, 4 or 8 bytes; nothing if the place is not memory.
    [[nodiscard]] std::optional<std::uint64_t> read_value(PhysicalAddress at, unsigned size) const;
    [[nodiscard]] bool write_value(PhysicalAddress at, std::uint64_t value, unsigned size);

    /// Little-endian 32-bit words.
    [[nodiscard]] bool read_words(PhysicalAddress at, std::span<std::uint32_t> to) const;
    [[nodiscard]] bool write_words(PhysicalAddress at, std::span<const std::uint32_t> from);

  private:
    VideoMemory video_;
    bool video_is_system_ = false;
    GuestMemory *guest_ = nullptr;
};

} // namespace nvmodel
