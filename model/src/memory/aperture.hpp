// SPDX-License-Identifier: MIT OR GPL-2.0
// The kinds of memory that an address can be in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvmodel {

/// The code that runlist, instance-block and window registers use for a target. (Page-table entries
/// use other codes; open-gpu-doc manuals/volta/gv100/dev_fifo.ref.txt.)
enum class Aperture : std::uint8_t {
    video = 0,
    coherent = 2,    // system memory, snooped
    noncoherent = 3, // system memory, not snooped
};

/// A place in memory as the GPU names it.
struct PhysicalAddress {
    Aperture aperture = Aperture::video;
    std::uint64_t address = 0;

    bool operator==(const PhysicalAddress &) const = default;
};

/// The aperture behind a two-bit target field; 1 is undefined.
constexpr std::optional<Aperture> aperture_from_target(std::uint32_t target) {
    if (target > 3 || target == 1)
        return std::nullopt;
    return static_cast<Aperture>(target);
}

constexpr std::uint32_t target_of(Aperture aperture) {
    return static_cast<std::uint32_t>(aperture);
}

/// The word workload files use.
constexpr std::string_view name_of(Aperture aperture) {
    switch (aperture) {
    case Aperture::video:
        return "vid";
    case Aperture::coherent:
        return "coh";
    case Aperture::noncoherent:
        return "ncoh";
    }
    return "?";
}

} // namespace nvmodel
