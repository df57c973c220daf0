// SPDX-License-Identifier: MIT OR GPL-2.0
// The geometry of page tables: the bits of a virtual address that index each table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nvmodel::mmu {

inline constexpr std::uint64_t kib = 1ULL << 10;
inline constexpr std::uint64_t mib = 1ULL << 20;
inline constexpr std::uint64_t gib = 1ULL << 30;
inline constexpr std::uint64_t small_page = 4 * kib;

enum class Version : std::uint8_t { v1 = 1, v2 = 2, v3 = 3 };

/// A directory level: entry n of a table covers the addresses from n << shift.
struct Level {
    unsigned shift;
    unsigned entries;
    unsigned entry_bytes;

    [[nodiscard]] constexpr std::uint64_t span() const { return 1ULL << shift; }
    [[nodiscard]] constexpr unsigned index(std::uint64_t va) const {
        return static_cast<unsigned>((va >> shift) % entries);
    }
};

/// The tables that one chip or context uses. Below the last directory there are two kinds of table
/// for the same addresses: tables of big pages and tables of small (4 KiB) pages.
struct Format {
    Version version = Version::v2;
    std::uint64_t big_page = 64 * kib; // versions 1 and 2: 64 or 128 KiB
    bool leaf_512m = false;            // versions 2 and 3
    bool leaf_256g = false;            // version 3

    bool operator==(const Format &) const = default;

    [[nodiscard]] unsigned va_bits() const;
    /// The levels of directories from the root down; the last one is the dual directory.
    [[nodiscard]] std::span<const Level> directories() const;
    /// Returns whether an entry of this directory may be a page itself.
    [[nodiscard]] bool may_be_page(const Level &level) const;
    /// All page sizes, from small to large.
    [[nodiscard]] std::vector<std::uint64_t> page_sizes() const;
    [[nodiscard]] bool has_page_size(std::uint64_t size) const;

    [[nodiscard]] const Level &root() const { return directories().front(); }
    [[nodiscard]] const Level &dual() const { return directories().back(); }
    /// The entries of a table of pages of this size (big or small).
    [[nodiscard]] unsigned table_entries(std::uint64_t page) const {
        return static_cast<unsigned>(dual().span() / page);
    }
};

} // namespace nvmodel::mmu
