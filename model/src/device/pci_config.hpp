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
    static constexpr unsigned space = 256;

    explicit PciConfig(const Board &board);

    /// Accesses 1, 2 or 4 bytes. Bytes behind the 256 of the space read as ones and ignore writes.
    [[nodiscard]] std::uint32_t read(std::uint32_t offset, unsigned size) const;
    void write(std::uint32_t offset, std::uint32_t value, unsigned size);

    /// Restores the state of power-on.
    void reset();

    /// The BAR of a PCI resource (0 to 5), if it has one.
    [[nodiscard]] std::optional<Bar> bar_at(unsigned resource) const;
    [[nodiscard]] std::uint64_t bar_size(Bar bar) const {
        return bar_size_.at(static_cast<std::size_t>(bar));
    }

    /// Returns whether BARs are decoded at all.
    [[nodiscard]] bool decodes_memory() const;

    struct Hit {
        Bar bar;
        std::uint64_t offset;
    };
    /// Finds the BAR with an absolute address of the bus, if memory decoding is on.
    [[nodiscard]] std::optional<Hit> decode(std::uint64_t address, unsigned size) const;

    /// Returns whether the state is D3hot, in which the function answers no memory access.
    [[nodiscard]] bool powered_down() const;

  private:
    void set8(unsigned offset, std::uint8_t value, std::uint8_t writable = 0);
    void set16(unsigned offset, std::uint16_t value, std::uint16_t writable = 0);
    void set32(unsigned offset, std::uint32_t value, std::uint32_t writable = 0);
    /// Nothing for a BAR that this function lacks.
    [[nodiscard]] std::optional<unsigned> bar_register(Bar bar) const;
    void define_bar(Bar bar, std::uint64_t size, BarForm form);
    [[nodiscard]] std::uint64_t bar_base(unsigned at, bool wide) const;
    [[nodiscard]] std::uint32_t word(unsigned offset) const;

    std::array<std::optional<unsigned>, bar_count> resources_;
    std::array<std::uint8_t, space> initial_{};
    std::array<std::uint8_t, space> writable_{}; // ones are bits that software may change
    std::array<std::uint8_t, space> now_{};
    std::array<std::uint64_t, bar_count> bar_size_{};
    std::array<bool, bar_count> bar_wide_{};
};

} // namespace nvmodel
