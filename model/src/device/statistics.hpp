// SPDX-License-Identifier: MIT OR GPL-2.0
// Counts BAR accesses by BAR and register block, and bytes that were read more than once.
#pragma once

#include "device/access.hpp"
#include "memory/aperture.hpp"

#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace nvmodel {

/// The place that a read reaches: a register's offset, or the physical address of memory, whatever
/// aperture leads there. Reads of the same place count as repeated.
struct Place {
    bool memory = false;
    Bar bar = Bar::registers; // for registers, and BAR addresses without a translation
    PhysicalAddress physical; // for memory
    std::uint64_t offset = 0; // for registers
};

class Statistics {
  public:
    struct Counts {
        std::uint64_t reads = 0;
        std::uint64_t read_bytes = 0;
        std::uint64_t writes = 0;
        std::uint64_t write_bytes = 0;
        std::uint64_t reread_bytes = 0;
        std::set<std::uint64_t> mebibytes; // numbers of the MiB that were read
    };

    void count(const Access &access, std::string_view block, const Place &place);
    void reset();

    /// Counts by BAR, then by block. Blocks without an access are missing.
    [[nodiscard]] const std::map<Bar, std::map<std::string, Counts, std::less<>>> &blocks() const {
        return blocks_;
    }

  private:
    static constexpr std::uint64_t page_size = 4096;
    using Page = std::bitset<page_size>;                 // bytes that were read
    using PageKey = std::tuple<unsigned, std::uint64_t>; // kind of place, page

    std::uint64_t mark(unsigned kind, std::uint64_t address, unsigned size);

    std::map<Bar, std::map<std::string, Counts, std::less<>>> blocks_;
    std::map<PageKey, Page> seen_;
};

} // namespace nvmodel
