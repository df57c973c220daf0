// SPDX-License-Identifier: MIT OR GPL-2.0
// Virtual time: whole nanoseconds since the model was started.
#pragma once

#include <cstdint>
#include <limits>

namespace nvmodel {

using Ns = std::int64_t;

inline constexpr Ns ns_per_us = 1000;
inline constexpr Ns never = std::numeric_limits<Ns>::max();

/// Duration of a BAR access: a PCIe read's round trip takes about so long.
inline constexpr Ns bar_access_ns = ns_per_us;

constexpr double to_us(Ns t) {
    return static_cast<double>(t) / static_cast<double>(ns_per_us);
}

} // namespace nvmodel
