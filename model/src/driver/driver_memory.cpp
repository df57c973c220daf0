// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/driver_memory.hpp"

#include "mmu/format.hpp"

namespace nvmodel {
namespace {

constexpr std::uint64_t data_begin = 256 * mmu::mib; // of video memory; structures are elsewhere
constexpr std::uint64_t data_end_reserve = 64 * mmu::mib;
/// System memory of programs, and memory of other GPUs.
constexpr std::uint64_t far_base = 0x10'0000'0000;

} // namespace

DriverMemory::DriverMemory(Memory &memory, Allocator structures,
                           const std::optional<SystemMemoryRange> &system)
    : memory_(memory), video_(structures), video_begin_(structures.next()), next_data_(data_begin) {
    if (system)
        system_.emplace(Aperture::coherent, system->base, system->base + system->size);
}

PhysicalAddress DriverMemory::take(Aperture aperture, std::uint64_t size, std::uint64_t alignment) {
    if (aperture == Aperture::video)
        return video_.take(size, alignment);
    if (!system_)
        throw ConfigError("the workload needs system memory; give some with --sysmem");
    return {aperture, system_->take(size, alignment).address};
}

mmu::PageAddress DriverMemory::take_data(mmu::PageAperture aperture, std::uint64_t page_size) {
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
