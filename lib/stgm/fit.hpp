// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file How much work takes a given time. */
#ifndef NVDEBUG_STGM_FIT_HPP
#define NVDEBUG_STGM_FIT_HPP

#include <algorithm>

#include "time.hpp"

namespace stgm {

/**
 * An amount from 1 to @p most that takes no longer than @p target, near the largest such one.
 * @param measure the longest time of several of this amount: `Time(std::int64_t amount)`; grows with it
 * @return 0: even the smallest takes longer
 */
template <typename Measure>
std::int64_t fit(Time target, std::int64_t most, Measure &&measure) {
    if (measure(1) > target)
        return 0;
    std::int64_t good = 1, bad = most + 1;
    while (good < most) {
        const std::int64_t next = std::min(2 * good, most);
        if (measure(next) > target) {
            bad = next;
            break;
        }
        good = next;
    }
    // To about 1 %.
    while (bad - good > std::max<std::int64_t>(1, good / 100)) {
        const std::int64_t middle = good + (bad - good) / 2;
        (measure(middle) > target ? bad : good) = middle;
    }
    return good;
}

} // namespace stgm

#endif
