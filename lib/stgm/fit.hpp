// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A search for the amount of work that takes a given time.
#pragma once

#include <algorithm>

#include "time.hpp"

namespace stgm {

/// Returns an amount from 1 to @p most that takes no longer than @p target and is near the largest
/// such amount, or 0 if even an amount of 1 takes longer.
/// @param measure `Time(std::int64_t amount)`, the longest time of several runs of this amount. It
/// grows with the amount.
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
    // Narrows the range to about 1 %, by interpolation, or by halves if interpolation takes too
    // long.
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
