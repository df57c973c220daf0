// SPDX-License-Identifier: MIT OR GPL-2.0
// The words of page-table entries, as a driver writes them.
#pragma once

#include "memory/aperture.hpp"
#include "mmu/format.hpp"
#include "mmu/page.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace nvmodel::mmu {

/// Attributes that drivers set alike in all directory entries of an address space.
struct DirectoryFlags {
    bool uncached = false; // also for tables in video memory; tables in system memory always are
    bool ats = false;      // addresses may be looked up by ATS as well (version 3)
};

struct DualTables {
    std::optional<PhysicalAddress> big;
    std::optional<PhysicalAddress> small;
    unsigned size_exponent = 0; // version 1: both tables have 1 / 2^n of their entries
};

/// An entry of a dual directory; version 1 has only the first word.
using DualWords = std::array<std::uint64_t, 2>;

std::uint64_t encode_directory(Version version, PhysicalAddress table, DirectoryFlags flags);
DualWords encode_dual(Version version, const DualTables &tables, DirectoryFlags flags);
std::uint64_t encode_page(Version version, const PageAddress &at, const PageFlags &flags);
/// Encode a range that may be accessed although nothing is mapped. The directory word is also the
/// first word of a dual entry.
std::uint64_t encode_sparse_directory(Version version, DirectoryFlags flags);
std::uint64_t encode_sparse_page(Version version);
/// Encodes an entry in a table of big pages: there is no page, and the table of small pages does
/// not count either.
std::uint64_t encode_no_small_pages(Version version);

} // namespace nvmodel::mmu
