// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Times as whole numbers of the task set's unit. What does not fit stays at the largest: it
/// is above any deadline, so that no bound is ever too small by it.
#pragma once

#include <cstdint>
#include <limits>

namespace stgm {

/// Never negative.
using Time = std::int64_t;

inline constexpr Time endless = std::numeric_limits<Time>::max();
/// No time in a task set is longer: 31 years in microseconds.
inline constexpr Time longest_time = 1'000'000'000'000'000;

constexpr Time add(Time a, Time b) {
    Time sum;
    return __builtin_add_overflow(a, b, &sum) ? endless : sum;
}

constexpr Time multiply(Time a, Time b) {
    Time product;
    return __builtin_mul_overflow(a, b, &product) ? endless : product;
}

/// @p divisor is not 0.
constexpr Time divide_up(Time a, Time divisor) {
    return a / divisor + (a % divisor != 0);
}

} // namespace stgm
