// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds the register block that answers at an offset of BAR0.
#pragma once

#include "blocks/register_block.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace nvmodel {

/// The groups that accesses are counted in.
enum class BlockName : std::uint8_t {
    pmc,
    ptop,
    pfifo,
    pbdma,
    pccsr,
    runlist,
    chram,
    ce,
    fuse,
    pgraph,
    pfb,
    pri,
    pbus,
    pbus_window,
    bar_block,
    pramin,
    ptimer,
    usermode,
    other,
};
inline constexpr unsigned block_names = 19;

std::string_view name_of(BlockName block);

class AddressMap {
  public:
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0; // exclusive
        BlockName name = BlockName::other;
        RegisterBlock *block = nullptr; // nullptr: PRAMIN, which is memory
    };

    /// Adds a range. Throws ConfigError if it overlaps another one, because boards place blocks
    /// freely.
    void add(Range range);

    /// The range that holds an offset, or nullptr.
    [[nodiscard]] const Range *find(std::uint64_t offset) const;

  private:
    std::vector<Range> ranges_; // by begin
};

} // namespace nvmodel
