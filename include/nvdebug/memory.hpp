// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Places in GPU-visible memory.
#pragma once

#include <cstdint>
#include <optional>

#include "nvdebug/export.hpp"

namespace nvdebug {

enum class Aperture {
    video,       ///< `vid`: the GPU's own memory
    coherent,    ///< `coh`: system memory, snooped
    noncoherent, ///< `ncoh`: system memory, not snooped
    invalid,     ///< `invalid`: an undefined code
    peer,        ///< `peer`: another GPU's memory (only translate has it)
};

struct Place {
    /// In bytes from the start of the aperture; empty when hidden from this reader.
    std::optional<std::uint64_t> address;
    std::optional<Aperture> aperture;
    bool operator==(const Place &) const = default;
};

/// As /proc spells it: `vid`, `coh`, `ncoh`, `invalid`, `peer`.
NVDEBUG_API const char *name_of(Aperture aperture);

} // namespace nvdebug
