// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/driver_memory.hpp"

#include "mmu/format.hpp"

#include <cstddef>
#include <vector>

namespace nvmodel {
namespace {

constexpr std::uint64_t data_begin = 256 * mmu::mib; // in video memory, apart from structures
constexpr std::uint64_t data_end_reserve = 64 * mmu::mib;
/// The place of programs' system memory, and of memory of other GPUs.
constexpr std::uint64_t far_base = 0x10'0000'0000;
/// The place of programs' memory where memory is unified: up to bit 35, since the bits from 36 on
/// steer the address on its way through the SoC (nvgpu hal/mm/gmmu/gmmu_gp10b_fusa.c,
/// gmmu_gv11b_fusa.c).
constexpr std::uint64_t unified_data_begin = 0x1'0000'0000;
constexpr std::uint64_t unified_data_end = 0x8'0000'0000;

} // namespace

DriverMemory::DriverMemory(Memory &memory, MemoryForm form, Allocator structures,
                           const std::optional<SystemMemoryRange> &system)
    : memory_(memory), form_(form), video_(structures), video_begin_(structures.next()),
      next_data_(form == MemoryForm::video ? data_begin : unified_data_begin) {
    if (system)
        system_.emplace(Aperture::coherent, system->base, system->base + system->size);
}

PhysicalAddress DriverMemory::take(Aperture wanted, std::uint64_t size, std::uint64_t alignment) {
    const Aperture aperture = known_as(wanted);
    if (memory_.in_video({aperture, 0}))
        return video_.take(size, alignment);
    if (!system_)
        throw ConfigError("the workload needs system memory; give some with --sysmem");
    const PhysicalAddress at{aperture, system_->take(size, alignment).address};
    memory_.must_write(at, std::vector<std::byte>(size));
    return at;
}

mmu::PageAddress DriverMemory::take_data(mmu::PageAperture wanted, std::uint64_t page_size) {
    const mmu::PageAperture aperture = known_as(wanted);
    if (form_ != MemoryForm::video) {
        std::uint64_t at = align_up(next_data_, page_size);
        if (at + page_size > unified_data_end)
            at = align_up(unified_data_begin, page_size);
        next_data_ = at + page_size;
        return {aperture, at, 0};
    }
    const std::uint64_t end = memory_.video().size() - data_end_reserve;
    std::uint64_t at = align_up(next_data_, page_size);
    if (at + page_size > end)
        at = align_up(data_begin, page_size);
    next_data_ = at + page_size;
    if (aperture != mmu::PageAperture::video)
        at = align_up(far_base, page_size) + at;
    return {aperture, at, aperture == mmu::PageAperture::peer ? 1U : 0U};
}

} // namespace nvmodel
