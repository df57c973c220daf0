// SPDX-License-Identifier: MIT OR GPL-2.0
// PCI configuration space: a conventional type 0 header with a power-management capability.
#pragma once

#include "board/board.hpp"
#include "device/bar.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace nvmodel {

class PciConfig {
  public:
    explicit PciConfig(const Board &board);

    /// 1, 2 or 4 bytes. What lies outside the 256 bytes reads as ones and ignores writes.
    [[nodiscard]] std::uint32_t read(std::uint32_t offset, unsigned size) const;
    void write(std::uint32_t offset, std::uint32_t value, unsigned size);

    /// Back to what it was at power-on.
    void reset();

    struct Hit {
        Bar bar;
        std::uint64_t offset;
    };
    /// The BAR that an absolute address of the bus lies in, with memory decoding on.
    [[nodiscard]] std::optional<Hit> decode(std::uint64_t address, unsigned size) const;

    /// In D3hot the function answers no memory access.
    [[nodiscard]] bool powered_down() const;

  private:
    static constexpr unsigned space = 256;

    void set8(unsigned offset, std::uint8_t value, std::uint8_t writable = 0);
    void set16(unsigned offset, std::uint16_t value, std::uint16_t writable = 0);
    void set32(unsigned offset, std::uint32_t value, std::uint32_t writable = 0);
    [[nodiscard]] unsigned bar_register(Bar bar) const;
    void define_bar(Bar bar, std::uint64_t size);
    [[nodiscard]] std::uint32_t word(unsigned offset) const;

    std::array<unsigned, bar_count> resources_;
    std::array<std::uint8_t, space> initial_{};
    std::array<std::uint8_t, space> writable_{}; // ones are bits that software may change
    std::array<std::uint8_t, space> now_{};
    std::array<std::uint64_t, bar_count> bar_size_{};
};

} // namespace nvmodel
