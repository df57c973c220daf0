// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/instance_space.hpp"

#include "base/bits.hpp"
#include "mmu/translate.hpp"
#include "regs/ramin.hpp"

namespace nvmodel {

using namespace regs::ramin;

std::optional<PhysicalAddress> FoundSpace::translate(const Memory &memory, std::uint64_t va) const {
    if (va > last)
        return std::nullopt;
    const mmu::Walk walk = mmu::translate(memory, format, root, va);
    return walk.page ? local(walk.page->at) : std::nullopt;
}

std::uint32_t InstanceSpaces::word(PhysicalAddress instance, unsigned n) const {
    const auto value = memory_.read_value({instance.aperture, instance.address + 4ULL * n}, 4);
    return static_cast<std::uint32_t>(value.value_or(0));
}

std::optional<FoundSpace> InstanceSpaces::directory(std::uint32_t lo, std::uint32_t hi) const {
    const auto aperture = aperture_from_target(pdb_target.get(lo));
    const PageTableTraits &traits = generation_.page_tables;
    const std::uint64_t address = join(hi, lo & pdb_address_lo.mask());
    if (!aperture || address == 0)
        return std::nullopt;
    const std::uint64_t big_page = !traits.big_page_by_instance ? big_page_
                                   : pdb_big_page_64k.test(lo)  ? 64 * mmu::kib
                                                                : 128 * mmu::kib;
    const mmu::Version version = pdb_ver2.test(lo) ? traits.version : mmu::Version::v1;
    return FoundSpace{{*aperture, address}, traits.format(version, big_page)};
}

std::optional<FoundSpace> InstanceSpaces::base(PhysicalAddress instance) const {
    auto space = directory(word(instance, pdb_lo), word(instance, pdb_hi));
    if (space && generation_.instance.address_limit)
        space->last = join(word(instance, adr_limit_hi), word(instance, adr_limit_lo)) |
                      (mmu::small_page - 1);
    return space;
}

std::optional<FoundSpace> InstanceSpaces::graphics(PhysicalAddress instance) const {
    if (!generation_.subcontexts)
        return base(instance);
    const unsigned veid = wfi_veid.get(word(instance, engine_wfi_veid));
    if ((word(instance, sc_valid_0 + veid / 32) >> (veid % 32) & 1) == 0)
        return base(instance);
    return directory(word(instance, sc_pdb + 4 * veid), word(instance, sc_pdb + 4 * veid + 1));
}

/// With DEBUG_CYA off, as after reset, the upper half of BAR2 in virtual mode stays as in physical
/// mode, for the video BIOS; inferred.
std::optional<PhysicalAddress> InstanceSpaces::behind_bar(const BarBinding &bar,
                                                          std::uint64_t offset,
                                                          std::uint64_t bar_size) const {
    if (!bar.translated || (bar.debug_cya && offset >= bar_size / 2))
        return generation_.has_video_memory()
                   ? std::optional(PhysicalAddress{Aperture::video, offset})
                   : std::nullopt;
    const auto aperture = aperture_from_target(bar.target);
    if (!aperture)
        return std::nullopt;
    const auto space = base({*aperture, bar.instance});
    return space ? space->translate(memory_, offset) : std::nullopt;
}

} // namespace nvmodel
