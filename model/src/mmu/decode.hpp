// SPDX-License-Identifier: MIT OR GPL-2.0
// What the MMU makes of the words of page-table entries.
#pragma once

#include "memory/aperture.hpp"
#include "mmu/encode.hpp"
#include "mmu/format.hpp"
#include "mmu/page.hpp"

#include <cstdint>
#include <optional>

namespace nvmodel::mmu {

enum class EntryKind : std::uint8_t {
    invalid,
    sparse,
    table,          // a directory entry that leads on
    page,           // valid
    no_small_pages, // big page: neither it nor small ones
    nowhere,        // version 3: MAPPING_NOWHERE
};

struct PageEntry {
    EntryKind kind = EntryKind::invalid;
    PageAddress at = {};
    PageFlags flags = {};
};

struct DirectoryEntry {
    EntryKind kind = EntryKind::invalid;
    PhysicalAddress table;
    PageEntry page; // if the entry is one
};

struct DualEntry {
    EntryKind kind = EntryKind::invalid;
    DualTables tables;
    PageEntry page;
};

PageEntry decode_page(Version version, std::uint64_t word);
/// `may_be_page`: entries of this directory may be pages; elsewhere such an entry is invalid.
DirectoryEntry decode_directory(Version version, std::uint64_t word, bool may_be_page);
DualEntry decode_dual(Version version, DualWords words);

} // namespace nvmodel::mmu
