// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief The entries of a runlist as words of memory, and the place of each field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nvdebug/error.hpp"
#include "nvdebug/export.hpp"

namespace nvdebug {

class Gpu;

/// A field of an entry: bits @p high to @p low of a word. A pointer is two fields, which are in
/// place: its value is their sum.
struct EntryField {
    std::string name; ///< `id`, `timeout`, `instance pointer, low`, …
    std::uint32_t word, high, low;
    std::uint64_t value;
    bool operator==(const EntryField &) const = default;
};

/// An entry of a runlist as it is in memory.
struct RawEntry {
    std::uint32_t index;   ///< among all entries, from 0
    std::uint64_t address; ///< in the list's aperture
    std::vector<std::uint32_t> words;
    /// The fields that Host's manuals define for a TSG or a channel; empty: the entry is neither.
    std::vector<EntryField> fields;
};

/// Returns the entries of a runlist. Fails with ErrorCode::unsupported if the source has no words
/// of memory: the module, a folder, and captures of these. NVIDIA's driver and its captures have them.
NVDEBUG_API Result<std::vector<RawEntry>> runlist_entries(const Gpu &gpu, std::uint32_t runlist);

} // namespace nvdebug
