// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Decides, from numbers alone, which blocks to swap on one SM at the end of an epoch
 * (Section 3.6).
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_ADJUSTMENT_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_ADJUSTMENT_HPP

#include <optional>
#include <vector>

#include "lab/quotas/machine/number.hpp"
#include "room.hpp"

namespace engine {

/** The questions that the paper leaves open, with the default answers of docs/quotas.md. */
struct AdjustmentReadings {
    bool grows = true;      ///< is there any adjustment?
    bool returns = true;    ///< does a QoS kernel with warps to spare give a block back?
    int least = 0;          ///< blocks that another kernel keeps on an SM
    bool throttled = false; ///< do samples in which a kernel has no quota count for growth?
};

/** A kernel that has, or may get, blocks on the SM. */
struct Tenant {
    Need need;
    bool qos = false;
    int blocks = 0, start = 0;         ///< on this SM: allocated now, and when the run began
    qos::Rational speed = 0, goal = 0; ///< of a QoS kernel: since the launch
    std::int64_t everywhere = 0;       ///< blocks on the GPU
    int idle = 0;          ///< warps that were ready and not issued, in blocks, while it had quota
    int idle_all = 0;      ///< the same, with or without quota
    bool has_more = false; ///< is there a block that could be placed?
};

struct Swap {
    std::size_t to = 0;                   ///< the kernel that gets a block
    std::optional<std::size_t> from = {}; ///< the kernel that gives blocks, if room is needed
    int count = 0;                        ///< the number of blocks that it gives

    bool operator==(const Swap &) const = default;
};

/** Returns the swap to make, if any. @param free room of the SM beside the allocated blocks */
std::optional<Swap> adjust(const std::vector<Tenant> &tenants, const Room &free,
                           const AdjustmentReadings &readings);

} // namespace engine

#endif
