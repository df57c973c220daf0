// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/statistics.hpp"

namespace nvmodel {
namespace {

constexpr unsigned kind_video = 0;
constexpr unsigned kind_system = 1; // coherent or not, it is the same memory
constexpr unsigned kind_bar = 2;    // plus the BAR's number

unsigned kind_of(const Place &place) {
    if (!place.memory)
        return kind_bar + static_cast<unsigned>(place.bar);
    return place.physical.aperture == Aperture::video ? kind_video : kind_system;
}

} // namespace

void Statistics::count(const Access &access, std::string_view block, const Place &place) {
    auto &of_bar = blocks_[access.bar];
    auto found = of_bar.find(block);
    if (found == of_bar.end())
        found = of_bar.emplace(block, Counts{}).first;
    Counts &counts = found->second;
    if (access.write) {
        counts.writes += 1;
        counts.write_bytes += access.size;
        return;
    }
    counts.reads += 1;
    counts.read_bytes += access.size;
    const std::uint64_t at = place.memory ? place.physical.address : place.offset;
    counts.mebibytes.insert(at >> 20);
    counts.reread_bytes += mark(kind_of(place), at, access.size);
}

/// Marks bytes as read. Returns how many of them were marked before.
std::uint64_t Statistics::mark(unsigned kind, std::uint64_t address, unsigned size) {
    std::uint64_t before = 0;
    for (unsigned i = 0; i < size; ++i) {
        Page &page = seen_[{kind, (address + i) / page_size}];
        const auto bit = static_cast<std::size_t>((address + i) % page_size);
        before += page.test(bit) ? 1 : 0;
        page.set(bit);
    }
    return before;
}

void Statistics::reset() {
    blocks_.clear();
    seen_.clear();
}

} // namespace nvmodel
