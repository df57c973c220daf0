// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `translate`: a walk of the GPU's page tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/memory.hpp"

namespace nvdebug {

/// The entry that was read at one level of the page tables.
struct WalkStep {
    std::string level; ///< `PD3`, `PT4K`, …
    std::uint32_t index;
    Place entry;
    std::string raw;     ///< `0x…`, 16 or 32 digits (double entries)
    std::string meaning; ///< the rest of the line: `table 0x… vid`, `page …`, `invalid`, …
};

/// The answer of `translate`.
struct Translation {
    std::uint64_t virtual_address;
    Place page_directory;
    std::uint32_t page_tables; ///< version
    std::vector<WalkStep> steps;
    std::optional<Place> result;            ///< empty: not mapped
    std::optional<std::uint64_t> page_size; ///< bytes
    std::vector<std::string> flags;         ///< `read-only`, `kind=6`, …
    std::optional<std::string> error;       ///< where and why the walk ended
};

} // namespace nvdebug
