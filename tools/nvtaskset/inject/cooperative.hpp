// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Cooperative launches, whose blocks all run at once. CUDA itself checks them against all
/// SMs of the GPU, instead of those of the partition.
#pragma once

#include "lib/partition/cuda.hpp"

namespace nvtaskset {

/// The SMs of a partition.
struct Room {
    std::uint32_t sms = 0;
    std::uint32_t largest_gpc = 0; ///< these SMs in the GPC that has most
};

/// Returns true if all blocks fit at the same time. Returns false, too, if CUDA does not answer.
/// @param in_cluster the blocks of a cluster, which has to be within a GPC. All clusters have to
/// fit in the largest GPC, because the sizes of the others are unknown.
bool fits(const cuda::Library &cuda, cuda::Handle function, const unsigned (&grid)[3],
          const unsigned (&block)[3], unsigned shared_bytes, std::uint64_t in_cluster, Room room);

} // namespace nvtaskset
