// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cooperative.hpp"

namespace nvtaskset {

bool fits(const cuda::Library &cuda, cuda::Handle function, const unsigned (&grid)[3],
          const unsigned (&block)[3], unsigned shared_bytes, std::uint64_t in_cluster, Room room) {
    const auto product = [](const unsigned(&sides)[3]) {
        return std::uint64_t{sides[0]} * sides[1] * sides[2];
    };
    int blocks = 0;
    // CUDA itself refuses a block that is too large.
    if (cuda.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, function,
                  static_cast<int>(product(block)), std::size_t{shared_bytes}))
        return false;
    const auto each = static_cast<std::uint64_t>(blocks);
    return product(grid) <=
           (in_cluster > 1 ? each * room.largest_gpc / in_cluster * in_cluster : each * room.sms);
}

} // namespace nvtaskset
