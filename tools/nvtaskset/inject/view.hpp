// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The partition of a GPU as a thread has last read it.
#pragma once

#include <cstdint>
#include <optional>

#include "cooperative.hpp"
#include "lib/partition/page.hpp"

namespace nvtaskset {

struct View {
    bool known = false; ///< the members below are valid
    std::uint32_t generation = 0;
    bool kept = false;    ///< the GPU has a partition
    bool outside = false; ///< it has no partition, but another GPU has
    Partition partition;
    Slot *slot = nullptr;
    /// The part of the partition that a program which keeps goals leaves to the task.
    std::optional<LeasedMask> lease = std::nullopt;
};

/// Returns the TPCs that exist and are not disabled.
Bits left(const Bits &exists, const Bits &disabled);
bool any(const Bits &bits);
Room room_of(const Partition &partition);

/// Reads the lease of the view's GPU. A lease that would leave no TPC is ignored.
void take_lease(View &view, const State &state);

} // namespace nvtaskset
