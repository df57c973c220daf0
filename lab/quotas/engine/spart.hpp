// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Spatial partition with hill climbing, with which the paper compares its schemes. Each
 * kernel has whole SMs, and SMs change hands at the end of an epoch. The decision is from numbers
 * alone.
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SPART_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SPART_HPP

#include <optional>
#include <vector>

#include "lab/quotas/machine/number.hpp"

namespace engine {

struct Share {
    bool qos = false;
    int sms = 0;
    qos::Rational goal = 0;  ///< of a QoS kernel
    qos::Rational speed = 0; ///< since the launch
    qos::Rational last = 0;  ///< in the last epoch
};

struct Move {
    std::size_t from = 0, to = 0;

    bool operator==(const Move &) const = default;
};

/** Divides SMs into equal parts. If they cannot be equal, the first parts have an SM more. */
std::vector<int> equal_parts(std::size_t sms, std::size_t kernels);

/**
 * Returns the move of QoS kernel @p k, if any. If it is behind its goal, it takes an SM from the
 * kernel without a goal that has most SMs, or else from a QoS kernel that would still reach its
 * goal. If it would have reached its goal in the last epoch with an SM less, it gives an SM to the
 * kernel without a goal that has fewest.
 * @param least SMs that a kernel without a goal keeps
 */
std::optional<Move> climb(const std::vector<Share> &shares, std::size_t k, int least);

} // namespace engine

#endif
