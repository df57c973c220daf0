// SPDX-License-Identifier: MIT OR GPL-2.0
// The fields of runlist entries, by the module's decoder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nvdebug/entries.hpp"

namespace nvdebug::driver {

/// The forms of entries (hw/ram.h).
enum class EntryForm {
    kepler,   ///< 8 bytes, up to Pascal
    volta,    ///< 16 bytes
    blackwell ///< 16 bytes, with a subcontext above the instance pointer
};

/// Returns the number of words of an entry.
std::size_t words_of(EntryForm form);

/// Returns the fields of an entry; empty: it is neither a TSG nor a channel, or is cut.
std::vector<EntryField> entry_fields(std::span<const std::uint32_t> words, EntryForm form);

} // namespace nvdebug::driver
