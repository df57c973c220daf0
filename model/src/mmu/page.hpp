// SPDX-License-Identifier: MIT OR GPL-2.0
// The fields of a page-table entry about a page.
#pragma once

#include "memory/aperture.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvmodel::mmu {

/// The codes of page-table entries; directories use others.
enum class PageAperture : std::uint8_t { video = 0, peer = 1, coherent = 2, noncoherent = 3 };

constexpr std::string_view name_of(PageAperture aperture) {
    switch (aperture) {
    case PageAperture::video:
        return "vid";
    case PageAperture::peer:
        return "peer";
    case PageAperture::coherent:
        return "coh";
    case PageAperture::noncoherent:
        return "ncoh";
    }
    return "?";
}

struct PageAddress {
    PageAperture aperture = PageAperture::video;
    std::uint64_t address = 0;
    unsigned peer = 0; // peer memory: number of the other GPU

    bool operator==(const PageAddress &) const = default;
};

/// Returns the same place in this GPU's memory or in system memory; nothing for another GPU's
/// memory.
constexpr std::optional<PhysicalAddress> local(const PageAddress &page) {
    if (page.aperture == PageAperture::peer)
        return std::nullopt;
    return PhysicalAddress{static_cast<Aperture>(page.aperture), page.address};
}

constexpr PageAddress page_address(const PhysicalAddress &at) {
    return {static_cast<PageAperture>(at.aperture), at.address, 0};
}

struct PageFlags {
    bool uncached = false; // VOL
    bool privileged = false;
    bool read_only = false;
    bool no_atomics = false;         // versions 2 and 3
    bool no_access_counting = false; // version 3
    std::uint8_t kind = 0;           // storage kind; 0 is pitch

    bool operator==(const PageFlags &) const = default;
};

} // namespace nvmodel::mmu
