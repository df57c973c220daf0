// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How much work takes a given time.
#pragma once

#include <algorithm>

#include "time.hpp"

namespace stgm {

/// An amount from 1 to @p most that takes no longer than @p target, near the largest such one.
/// @param measure the longest time of several of this amount: `Time(std::int64_t amount)`; grows
/// with it
/// @return 0: even the smallest takes longer
template <typename Measure>
std::int64_t fit(Time target, std::int64_t most, Measure &&measure) {
    Time at_good = measure(1), at_bad = 0;
    if (at_good > target)
        return 0;
    std::int64_t good = 1, bad = most + 1;
    const auto look_at = [&](std::int64_t amount) {
        const Time at = measure(amount);
        (at > target ? bad : good) = amount;
        (at > target ? at_bad : at_good) = at;
    };
    while (good < most && !at_bad)
        look_at(std::min(2 * good, most));
    // To about 1 %: on the line between the two, and halfway where that does not end.
    constexpr int on_the_line = 8;
    for (int n = 0; bad - good > std::max<std::int64_t>(1, good / 100); n++) {
        const double part = n < on_the_line ? static_cast<double>(target - at_good) /
                                                  static_cast<double>(at_bad - at_good)
                                            : .5;
        look_at(std::clamp(good + static_cast<std::int64_t>(part * static_cast<double>(bad - good)),
                           good + std::max<std::int64_t>(1, good / 100), bad - 1));
    }
    return good;
}

} // namespace stgm
