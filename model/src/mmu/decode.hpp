// SPDX-License-Identifier: MIT OR GPL-2.0
// Decodes the words of page-table entries as the MMU does.
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
    table,          // a directory entry with a table
    page,           // valid
    no_small_pages, // big page: no page here, and no small pages either
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
    PageEntry page; // valid if the entry is a page
};

struct DualEntry {
    EntryKind kind = EntryKind::invalid;
    DualTables tables;
    PageEntry page;
};

PageEntry decode_page(Version version, std::uint64_t word);
/// Decode an entry of a directory. `may_be_page`: entries of this directory may be pages; elsewhere
/// such an entry is invalid.
DirectoryEntry decode_directory(Version version, std::uint64_t word, bool may_be_page);
DualEntry decode_dual(Version version, DualWords words);

} // namespace nvmodel::mmu
