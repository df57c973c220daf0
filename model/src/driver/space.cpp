// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/space.hpp"

#include <algorithm>

namespace nvmodel {
namespace {

using namespace mmu;

// All default mappings are close together, so that they need few tables. In version 1 they need an
// eighth of a table of small pages.
constexpr std::uint64_t driver_base = 0x1'2000'0000;
constexpr std::uint64_t program_base = driver_base + 4 * mib;
constexpr std::uint64_t program_2m = driver_base + 6 * mib;
constexpr std::uint64_t sparse_2m = driver_base + 10 * mib;
constexpr std::uint64_t program_512m = driver_base + 512 * mib;
constexpr std::uint64_t program_256g = 256 * gib;
/// Room below the end of addresses, for contexts that go to a place of their own.
constexpr std::uint64_t context_room = 4 * mib;

TakeMemory source(DriverMemory &memory, Aperture aperture) {
    return [&memory, aperture](std::uint64_t size, std::uint64_t alignment) {
        return memory.take(aperture, size, alignment);
    };
}

/// Drivers set the cache attribute of system memory's pages.
PageFlags flags_of(PageAperture aperture) {
    return {.uncached =
                aperture == PageAperture::coherent || aperture == PageAperture::noncoherent};
}

} // namespace

Space::Space(DriverMemory &memory, const Format &format, const AddressSpaceSpec &spec)
    : memory_(memory), spec_(spec),
      tables_(memory.memory(), format, source(memory, spec.directory_aperture),
              source(memory, spec.table_aperture),
              {.flags = {.uncached = false, .ats = spec.ats}, .partial_tables = true}),
      next_(driver_base) {
    if (!spec.mappings) {
        map_some_of_each();
        return;
    }
    for (const MappingSpec &mapping : *spec.mappings)
        try {
            map_wanted(mapping);
        } catch (const ConfigError &error) {
            mapping.where.fail(error.what());
        }
}

/// Maps pages of the workload. Pages that the board does not have are left out: other page sizes,
/// addresses beyond its format, other GPUs' memory.
void Space::map_wanted(const MappingSpec &mapping) {
    const Format &format = tables_.format();
    if (!format.has_page_size(mapping.page_size) || mapping.va >> format.va_bits() != 0)
        return;
    if (mapping.aperture == PageAperture::peer && !memory_.has_peers())
        return;
    for (unsigned i = 0; i < mapping.pages; ++i) {
        const std::uint64_t va = mapping.va + i * mapping.page_size;
        if (mapping.sparse) {
            tables_.map_sparse(va, mapping.page_size);
        } else if (mapping.address) {
            const PageAperture aperture = memory_.known_as(mapping.aperture);
            tables_.map(va, mapping.page_size,
                        {aperture, *mapping.address + i * mapping.page_size,
                         aperture == PageAperture::peer ? 1U : 0U},
                        flags_of(aperture));
        } else {
            map_data_page(va, mapping.page_size, mapping.aperture);
        }
    }
}

void Space::map_some_of_each() {
    const Format &format = tables_.format();
    const std::uint64_t big = format.big_page;
    for (const std::uint64_t page : {0, 1, 3})
        map_data_page(program_base + page * small_page, small_page, PageAperture::video);
    map_data_page(program_base + 5 * small_page, small_page, PageAperture::coherent);
    tables_.map_sparse(program_base + 7 * small_page, small_page);
    map_data_page(program_base + 2 * big, big, PageAperture::video);
    map_data_page(program_base + 3 * big, big, PageAperture::video);
    map_data_page(program_base + 5 * big, big, PageAperture::coherent);
    map_data_page(program_base + 6 * big + small_page, small_page, PageAperture::video);
    map_data_page(program_base + 7 * big, small_page, PageAperture::video);
    tables_.hide_small_pages(program_base + 7 * big);
    if (format.has_page_size(2 * mib)) {
        map_data_page(program_2m, 2 * mib, PageAperture::video);
        tables_.map_sparse(sparse_2m, 2 * mib);
    }
    if (format.has_page_size(512 * mib))
        map_data_page(program_512m, 512 * mib, PageAperture::video);
    if (format.has_page_size(256 * gib))
        map_data_page(program_256g, 256 * gib, PageAperture::coherent);
}

void Space::map_data_page(std::uint64_t va, std::uint64_t page_size, PageAperture aperture) {
    const PageAddress page = memory_.take_data(aperture, page_size);
    tables_.map(va, page_size, page, flags_of(page.aperture));
}

void Space::map(std::uint64_t va, PhysicalAddress at, std::uint64_t size) {
    for (std::uint64_t offset = 0; offset < size; offset += small_page) {
        const PageAddress page = page_address({at.aperture, at.address + offset});
        tables_.map(va + offset, small_page, page, flags_of(page.aperture));
    }
}

void Space::map_data(std::uint64_t va, std::uint64_t size) {
    for (std::uint64_t offset = 0; offset < size; offset += small_page)
        map_data_page(va + offset, small_page, PageAperture::video);
}

std::uint64_t Space::reserve_from(std::span<Space *const> spaces, std::uint64_t va,
                                  std::uint64_t size) {
    while (!std::ranges::all_of(
        spaces, [&](const Space *space) { return space->tables_.is_free(va, size); }))
        va += small_page;
    return va;
}

std::uint64_t Space::reserve(std::span<Space *const> spaces, std::uint64_t size) {
    std::uint64_t va = 0;
    for (const Space *space : spaces)
        va = std::max(va, space->next_);
    va = reserve_from(spaces, va, size);
    for (Space *space : spaces)
        space->next_ = va + size;
    return va;
}

std::uint64_t Space::reserve_context(std::span<Space *const> spaces, std::uint64_t size,
                                     unsigned pointer_bits) {
    std::uint64_t va = 0;
    for (const Space *space : spaces) {
        const unsigned bits = std::min(pointer_bits, space->tables_.format().va_bits());
        const std::uint64_t wanted = space->spec_.context_va.value_or(0);
        if ((wanted + context_room) >> bits == 0)
            va = std::max(va, wanted);
    }
    return va == 0 ? reserve(spaces, size) : reserve_from(spaces, va, size);
}

} // namespace nvmodel
