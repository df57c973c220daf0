// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Places in GPU-visible memory.
#pragma once

#include <cstdint>
#include <optional>

#include "nvdebug/export.hpp"

namespace nvdebug {

/// The memory that an address is in.
enum class Aperture {
    video,       ///< `vid`: the GPU's own memory
    coherent,    ///< `coh`: system memory, snooped
    noncoherent, ///< `ncoh`: system memory, not snooped
    invalid,     ///< `invalid`: an undefined code
    peer,        ///< `peer`: the memory of another GPU (only in translate)
};

/// An address in GPU-visible memory.
struct Place {
    /// The offset from the start of the aperture in bytes; empty: hidden from this reader.
    std::optional<std::uint64_t> address;
    std::optional<Aperture> aperture;
    bool operator==(const Place &) const = default;
};

/// Returns the name that /proc uses: `vid`, `coh`, `ncoh`, `invalid`, `peer`.
NVDEBUG_API const char *name_of(Aperture aperture);

} // namespace nvdebug
