// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Times as whole numbers of the task set's unit. A sum or product that does not fit becomes
/// `endless`, which is above any deadline, so that no bound is too small because of it.
#pragma once

#include <cstdint>
#include <limits>

namespace stgm {

/// A time, which is never negative.
using Time = std::int64_t;

inline constexpr Time endless = std::numeric_limits<Time>::max();
/// The longest time in a task set, 31 years in microseconds.
inline constexpr Time longest_time = 1'000'000'000'000'000;

constexpr Time add(Time a, Time b) {
    Time sum;
    return __builtin_add_overflow(a, b, &sum) ? endless : sum;
}

constexpr Time multiply(Time a, Time b) {
    Time product;
    return __builtin_mul_overflow(a, b, &product) ? endless : product;
}

/// Returns a / divisor, rounded up. @p divisor is not 0.
constexpr Time divide_up(Time a, Time divisor) {
    return a / divisor + (a % divisor != 0);
}

} // namespace stgm
