// SPDX-License-Identifier: MIT OR GPL-2.0
#include "view.hpp"

#include <algorithm>

#include "lib/partition/gate.hpp"

namespace nvtaskset {

Bits left(const Bits &exists, const Bits &disabled) {
    Bits bits{};
    for (std::size_t word = 0; word < bits.size(); word++)
        bits[word] = exists[word] & ~disabled[word];
    return bits;
}

bool any(const Bits &bits) {
    return std::ranges::any_of(bits, [](std::uint32_t word) { return word != 0; });
}

Room room_of(const Partition &partition) {
    return {partition.sms, partition.largest_gpc};
}

void take_lease(View &view, const State &state) {
    view.lease.reset();
    if (!view.slot)
        return;
    const MaskLease &lease = state.masks[view.slot - state.slots];
    if (!lease.until_us)
        return;
    auto found = read_mask(lease, monotonic_us());
    if (found && view.kept) {
        for (std::size_t word = 0; word < found->disabled.size(); word++)
            found->disabled[word] |= view.partition.disabled[word];
        if (!any(left(view.partition.exists, found->disabled)))
            return;
    }
    view.lease = found;
}

} // namespace nvtaskset
