// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mmu/decode.hpp"

#include "regs/mmu.hpp"

namespace nvmodel::mmu {
namespace {

using namespace regs::mmu;

std::optional<Aperture> directory_aperture(std::uint64_t code) {
    if (code == directory_invalid)
        return std::nullopt;
    return code == directory_video ? Aperture::video : static_cast<Aperture>(code);
}

bool in_video_memory(PageAperture aperture) {
    return aperture == PageAperture::video || aperture == PageAperture::peer;
}

PageEntry decode_v1_page(std::uint64_t word) {
    using namespace v1;
    PageEntry entry;
    if (!pte_valid.test(word)) {
        if (pte_volatile.test(word))
            entry.kind = EntryKind::sparse;
        else if (pte_privilege.test(word))
            entry.kind = EntryKind::no_small_pages;
        return entry;
    }
    entry.kind = EntryKind::page;
    entry.at.aperture = static_cast<PageAperture>(pte_aperture.get(word));
    const auto &address = in_video_memory(entry.at.aperture) ? pte_address_video : pte_address;
    entry.at.address = address.get(word) << page_shift;
    if (entry.at.aperture == PageAperture::peer)
        entry.at.peer = static_cast<unsigned>(pte_peer.get(word));
    entry.flags = {.uncached = pte_volatile.test(word),
                   .privileged = pte_privilege.test(word),
                   .read_only = pte_read_only.test(word),
                   .kind = static_cast<std::uint8_t>(pte_kind.get(word))};
    return entry;
}

PageEntry decode_v2_page(std::uint64_t word) {
    using namespace v2;
    PageEntry entry;
    if (!pte_valid.test(word)) {
        if (pte_volatile.test(word))
            entry.kind = EntryKind::sparse;
        else if (pte_privilege.test(word))
            entry.kind = EntryKind::no_small_pages;
        return entry;
    }
    entry.kind = EntryKind::page;
    entry.at.aperture = static_cast<PageAperture>(pte_aperture.get(word));
    const auto &address = in_video_memory(entry.at.aperture) ? pte_address_video : pte_address;
    entry.at.address = address.get(word) << page_shift;
    if (entry.at.aperture == PageAperture::peer)
        entry.at.peer = static_cast<unsigned>(pte_peer.get(word));
    entry.flags = {.uncached = pte_volatile.test(word),
                   .privileged = pte_privilege.test(word),
                   .read_only = pte_read_only.test(word),
                   .no_atomics = pte_atomic_disable.test(word),
                   .kind = static_cast<std::uint8_t>(pte_kind.get(word))};
    return entry;
}

EntryKind v3_invalid_kind(std::uint64_t pcf) {
    switch (pcf) {
    case 0:
        return EntryKind::invalid;
    case v3::pcf_sparse:
        return EntryKind::sparse;
    case v3::pcf_no_valid_4kb_page:
        return EntryKind::no_small_pages;
    default:
        return EntryKind::nowhere;
    }
}

PageEntry decode_v3_page(std::uint64_t word) {
    using namespace v3;
    PageEntry entry;
    if (!pte_valid.test(word)) {
        entry.kind = v3_invalid_kind(pte_pcf.get(word));
        return entry;
    }
    entry.kind = EntryKind::page;
    entry.at.aperture = static_cast<PageAperture>(pte_aperture.get(word));
    entry.at.address = word & pte_address.mask();
    if (entry.at.aperture == PageAperture::peer)
        entry.at.peer = static_cast<unsigned>(pte_peer.get(word));
    entry.flags = {.uncached = pte_pcf_uncached.test(word),
                   .privileged = pte_pcf_privilege.test(word),
                   .read_only = pte_pcf_read_only.test(word),
                   .no_atomics = pte_pcf_no_atomics.test(word),
                   .no_access_counting = pte_pcf_no_access_counting.test(word),
                   .kind = static_cast<std::uint8_t>(pte_kind.get(word))};
    return entry;
}

/// Decodes the pointer to a table of pages or of directory entries, from a word of version 2 or 3.
std::optional<PhysicalAddress> decode_table(Version version, std::uint64_t word, bool big) {
    if (version == Version::v3) {
        const auto aperture = directory_aperture(v3::pde_aperture.get(word));
        const Field64 &address = big ? v3::pde_address_big : v3::pde_address;
        return aperture ? std::optional(PhysicalAddress{*aperture, word & address.mask()})
                        : std::nullopt;
    }
    const auto aperture = directory_aperture(v2::pde_aperture.get(word));
    if (!aperture)
        return std::nullopt;
    const bool video = *aperture == Aperture::video;
    if (big) {
        const Field64 &address = video ? v2::pde_address_big_video : v2::pde_address_big;
        return PhysicalAddress{*aperture, address.get(word) << big_table_shift};
    }
    const Field64 &address = video ? v2::pde_address_video : v2::pde_address;
    return PhysicalAddress{*aperture, address.get(word) << page_shift};
}

/// Returns the kind of a directory entry without a table.
EntryKind empty_kind(Version version, std::uint64_t word) {
    const Field64 &sparse = version == Version::v3 ? v3::pde_pcf_uncached : v2::pde_volatile;
    return sparse.test(word) ? EntryKind::sparse : EntryKind::invalid;
}

std::optional<PhysicalAddress> decode_v1_table(std::uint64_t word, const Field64 &aperture_field,
                                               const Field64 &system, const Field64 &video) {
    const auto aperture = directory_aperture(aperture_field.get(word));
    if (!aperture)
        return std::nullopt;
    const Field64 &address = *aperture == Aperture::video ? video : system;
    return PhysicalAddress{*aperture, address.get(word) << page_shift};
}

DualEntry decode_v1_dual(std::uint64_t word) {
    using namespace v1;
    DualEntry entry;
    entry.tables.big =
        decode_v1_table(word, pde_aperture_big, pde_address_big, pde_address_big_video);
    entry.tables.small =
        decode_v1_table(word, pde_aperture_small, pde_address_small, pde_address_small_video);
    entry.tables.size_exponent = static_cast<unsigned>(pde_size.get(word));
    if (entry.tables.big || entry.tables.small)
        entry.kind = EntryKind::table;
    else if (pde_volatile_big.test(word))
        entry.kind = EntryKind::sparse;
    return entry;
}

} // namespace

PageEntry decode_page(Version version, std::uint64_t word) {
    switch (version) {
    case Version::v1:
        return decode_v1_page(word);
    case Version::v2:
        return decode_v2_page(word);
    case Version::v3:
        return decode_v3_page(word);
    }
    return {};
}

DirectoryEntry decode_directory(Version version, std::uint64_t word, bool may_be_page) {
    static_assert(v2::pde_is_pte.lo == v3::pde_is_pte.lo);
    DirectoryEntry entry;
    if (v2::pde_is_pte.test(word)) {
        if (may_be_page) {
            entry.kind = EntryKind::page;
            entry.page = decode_page(version, word);
        }
    } else if (const auto table = decode_table(version, word, false)) {
        entry.kind = EntryKind::table;
        entry.table = *table;
    } else {
        entry.kind = empty_kind(version, word);
    }
    return entry;
}

DualEntry decode_dual(Version version, DualWords words) {
    if (version == Version::v1)
        return decode_v1_dual(words[0]);
    DualEntry entry;
    if (v2::pde_is_pte.test(words[0])) {
        entry.kind = EntryKind::page;
        entry.page = decode_page(version, words[0]);
        return entry;
    }
    entry.tables.big = decode_table(version, words[0], true);
    entry.tables.small = decode_table(version, words[1], false);
    entry.kind =
        entry.tables.big || entry.tables.small ? EntryKind::table : empty_kind(version, words[0]);
    return entry;
}

} // namespace nvmodel::mmu
