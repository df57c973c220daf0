// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A GPU's partition as a thread saw it last.
#pragma once

#include <cstdint>
#include <optional>

#include "cooperative.hpp"
#include "lib/partition/page.hpp"

namespace nvtaskset {

struct View {
    bool known = false; ///< what follows holds
    std::uint32_t generation = 0;
    bool kept = false;    ///< the GPU has a partition
    bool outside = false; ///< it has none, but one was asked for, on another GPU
    Partition partition;
    Slot *slot = nullptr;
    /// TPCs that a program which keeps goals leaves, of those of the partition.
    std::optional<LeasedMask> lease = std::nullopt;
};

/// TPCs that there are and that are not disabled.
Bits left(const Bits &exists, const Bits &disabled);
bool any(const Bits &bits);
Room room_of(const Partition &partition);

/// Looks for the lease of the view's GPU. There is none where it would leave nothing.
void take_lease(View &view, const State &state);

} // namespace nvtaskset
