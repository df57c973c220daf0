// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/address_map.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace nvmodel {

std::string_view name_of(BlockName block) {
    static constexpr std::array<std::string_view, block_names> names{
        "PMC",       "PTOP",   "PFIFO",  "PBDMA",    "PCCSR", "RUNLIST", "CHRAM",
        "CE",        "FUSE",   "PGRAPH", "PFB",      "PRI",   "PBUS",    "PBUS_WINDOW",
        "BAR_BLOCK", "PRAMIN", "PTIMER", "USERMODE", "OTHER"};
    return names[static_cast<std::size_t>(block)];
}

void AddressMap::add(Range range) {
    for (const Range &other : ranges_)
        if (range.begin < other.end && other.begin < range.end) {
            std::ostringstream text;
            text << "BAR0 " << std::hex << std::showbase << range.begin << ".." << range.end << " ("
                 << name_of(range.name) << ") overlaps " << other.begin << ".." << other.end << " ("
                 << name_of(other.name) << ")";
            throw ConfigError(text.str());
        }
    const auto at = std::ranges::upper_bound(ranges_, range.begin, {}, &Range::begin);
    ranges_.insert(at, range);
}

const AddressMap::Range *AddressMap::find(std::uint64_t offset) const {
    auto after = std::ranges::upper_bound(ranges_, offset, {},
                                          [](const Range &r) -> std::uint64_t { return r.begin; });
    if (after == ranges_.begin())
        return nullptr;
    --after;
    return offset < after->end ? &*after : nullptr;
}

} // namespace nvmodel
