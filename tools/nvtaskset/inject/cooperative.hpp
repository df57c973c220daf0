// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Launches with blocks that all run at once: CUDA counts with all SMs of the GPU.
#pragma once

#include "lib/partition/cuda.hpp"

namespace nvtaskset {

/// SMs of a partition.
struct Room {
    std::uint32_t sms = 0;
    std::uint32_t largest_gpc = 0; ///< of them in the GPC that has most
};

/// Returns whether all blocks fit at the same time. False also if CUDA does not answer.
/// @param in_cluster blocks of a cluster, which is within a GPC; all of them have to fit in the
/// largest, as no more is known of the others
bool fits(const cuda::Library &cuda, cuda::Handle function, const unsigned (&grid)[3],
          const unsigned (&block)[3], unsigned shared_bytes, std::uint64_t in_cluster, Room room);

} // namespace nvtaskset
