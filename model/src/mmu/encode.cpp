// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mmu/encode.hpp"

#include "regs/mmu.hpp"

namespace nvmodel::mmu {
namespace {

using namespace regs::mmu;

std::uint64_t directory_code(Aperture aperture) {
    return aperture == Aperture::video ? directory_video : static_cast<std::uint64_t>(aperture);
}

bool is_uncached(const PhysicalAddress &table, DirectoryFlags flags) {
    return flags.uncached || table.aperture != Aperture::video;
}

std::uint64_t pcf(bool uncached, DirectoryFlags flags) {
    return v3::pde_pcf_uncached.put(uncached ? 1 : 0) | v3::pde_pcf_no_ats.put(flags.ats ? 0 : 1);
}

/// Encodes the pointer to a table of big pages, in the low word of a dual entry.
std::uint64_t encode_big_table(Version version, PhysicalAddress table, DirectoryFlags flags) {
    const bool uncached = is_uncached(table, flags);
    if (version == Version::v3)
        return v3::pde_aperture.put(directory_code(table.aperture)) | pcf(uncached, flags) |
               (table.address & v3::pde_address_big.mask());
    return v2::pde_aperture.put(directory_code(table.aperture)) |
           v2::pde_volatile.put(uncached ? 1 : 0) |
           v2::pde_address_big.put(table.address >> big_table_shift);
}

std::uint64_t encode_v1_tables(const DualTables &tables, DirectoryFlags flags) {
    using namespace v1;
    std::uint64_t word = 0;
    if (tables.big)
        word |= pde_aperture_big.put(directory_code(tables.big->aperture)) |
                pde_volatile_big.put(is_uncached(*tables.big, flags) ? 1 : 0) |
                pde_address_big.put(tables.big->address >> page_shift);
    if (tables.small)
        word |= pde_aperture_small.put(directory_code(tables.small->aperture)) |
                pde_volatile_small.put(is_uncached(*tables.small, flags) ? 1 : 0) |
                pde_address_small.put(tables.small->address >> page_shift);
    return word == 0 ? 0 : word | pde_size.put(tables.size_exponent);
}

std::uint64_t encode_v1_page(const PageAddress &at, const PageFlags &flags) {
    using namespace v1;
    std::uint64_t word = pte_valid.mask() | pte_privilege.put(flags.privileged ? 1 : 0) |
                         pte_read_only.put(flags.read_only ? 1 : 0) |
                         pte_volatile.put(flags.uncached ? 1 : 0) |
                         pte_aperture.put(static_cast<std::uint64_t>(at.aperture)) |
                         pte_kind.put(flags.kind) | pte_address.put(at.address >> page_shift);
    if (at.aperture == PageAperture::peer)
        word |= pte_peer.put(at.peer);
    return word;
}

std::uint64_t encode_v2_page(const PageAddress &at, const PageFlags &flags) {
    using namespace v2;
    std::uint64_t word =
        pte_valid.mask() | pte_aperture.put(static_cast<std::uint64_t>(at.aperture)) |
        pte_volatile.put(flags.uncached ? 1 : 0) | pte_privilege.put(flags.privileged ? 1 : 0) |
        pte_read_only.put(flags.read_only ? 1 : 0) |
        pte_atomic_disable.put(flags.no_atomics ? 1 : 0) | pte_kind.put(flags.kind) |
        pte_address.put(at.address >> page_shift);
    if (at.aperture == PageAperture::peer)
        word |= pte_peer.put(at.peer);
    return word;
}

std::uint64_t encode_v3_page(const PageAddress &at, const PageFlags &flags) {
    using namespace v3;
    std::uint64_t word = pte_valid.mask() |
                         pte_aperture.put(static_cast<std::uint64_t>(at.aperture)) |
                         pte_pcf_uncached.put(flags.uncached ? 1 : 0) |
                         pte_pcf_privilege.put(flags.privileged ? 1 : 0) |
                         pte_pcf_read_only.put(flags.read_only ? 1 : 0) |
                         pte_pcf_no_atomics.put(flags.no_atomics ? 1 : 0) |
                         pte_pcf_no_access_counting.put(flags.no_access_counting ? 1 : 0) |
                         pte_kind.put(flags.kind) | (at.address & pte_address.mask());
    if (at.aperture == PageAperture::peer)
        word |= pte_peer.put(at.peer);
    return word;
}

} // namespace

std::uint64_t encode_directory(Version version, PhysicalAddress table, DirectoryFlags flags) {
    const bool uncached = is_uncached(table, flags);
    if (version == Version::v3)
        return v3::pde_aperture.put(directory_code(table.aperture)) | pcf(uncached, flags) |
               (table.address & v3::pde_address.mask());
    return v2::pde_aperture.put(directory_code(table.aperture)) |
           v2::pde_volatile.put(uncached ? 1 : 0) |
           v2::pde_address.put(table.address >> page_shift);
}

DualWords encode_dual(Version version, const DualTables &tables, DirectoryFlags flags) {
    if (version == Version::v1)
        return {encode_v1_tables(tables, flags), 0};
    DualWords words{};
    if (tables.big)
        words[0] = encode_big_table(version, *tables.big, flags);
    if (tables.small)
        words[1] = encode_directory(version, *tables.small, flags);
    return words;
}

std::uint64_t encode_page(Version version, const PageAddress &at, const PageFlags &flags) {
    switch (version) {
    case Version::v1:
        return encode_v1_page(at, flags);
    case Version::v2:
        return encode_v2_page(at, flags);
    case Version::v3:
        return encode_v3_page(at, flags);
    }
    return 0;
}

std::uint64_t encode_sparse_directory(Version version, DirectoryFlags flags) {
    switch (version) {
    case Version::v1:
        return v1::pde_volatile_big.mask();
    case Version::v2:
        return v2::pde_volatile.mask();
    case Version::v3:
        return pcf(true, flags);
    }
    return 0;
}

std::uint64_t encode_sparse_page(Version version) {
    switch (version) {
    case Version::v1:
        return v1::pte_volatile.mask();
    case Version::v2:
        return v2::pte_volatile.mask();
    case Version::v3:
        return v3::pte_pcf.put(v3::pcf_sparse);
    }
    return 0;
}

std::uint64_t encode_no_small_pages(Version version) {
    switch (version) {
    case Version::v1:
        return v1::pte_privilege.mask();
    case Version::v2:
        return v2::pte_privilege.mask();
    case Version::v3:
        return v3::pte_pcf.put(v3::pcf_no_valid_4kb_page);
    }
    return 0;
}

} // namespace nvmodel::mmu
