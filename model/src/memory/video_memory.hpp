// SPDX-License-Identifier: MIT OR GPL-2.0
// Video memory: as large as the board's, with pages that are allocated when they are written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace nvmodel {

class VideoMemory {
  public:
    explicit VideoMemory(std::uint64_t size) : size_(size) {}

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Memory that was never written reads 0. Returns false if the range leaves the memory.
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const;
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from);

    /// Forgets all contents.
    void clear() { pages_.clear(); }

  private:
    static constexpr std::size_t page_size = 4096;
    using Page = std::array<std::byte, page_size>;

    [[nodiscard]] bool contains(std::uint64_t address, std::size_t length) const {
        return length <= size_ && address <= size_ - length;
    }

    std::uint64_t size_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

} // namespace nvmodel
