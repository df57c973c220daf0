// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The words of a Gate: a limit of launches in flight, and the limit or demand of a program
/// that keeps goals, which it leases for a while and renews. A program that is killed leaves
/// nothing behind, because its lease ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "state.hpp"

namespace nvtaskset {

/// The largest limit. CUDA itself queues about as many launches.
inline constexpr std::uint32_t in_flight_max = 1024;
/// The longest lease. A lease that ends later is taken for an error and has no effect.
inline constexpr std::uint64_t lease_max_us = 3'600'000'000;

/// Demands, which a lease has in place of a limit. The library of an earlier nvtaskset takes them
/// for limits, which are so large that no program reaches them.
namespace demand {
/// Launches and their ends are counted.
inline constexpr std::uint32_t count = 0xfffd;
/// As `count`, and Work shows the beginning and the end of requests.
inline constexpr std::uint32_t watch = 0xfffe;
/// No launch is made until the lease ends.
inline constexpr std::uint32_t hold = 0xffff;
} // namespace demand

/// Returns the time by CLOCK_MONOTONIC, which all processes of a machine share.
inline std::uint64_t monotonic_us() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

/// Returns the word of a lease: a limit or a demand, and the time at which it ends. They are in one
/// word so that a reader always gets both of the same lease.
constexpr std::uint64_t lease_word(std::uint32_t limit, std::uint64_t until_us) {
    return std::uint64_t{limit} << 48 | (until_us & 0xffff'ffff'ffff);
}

/// Returns the limit or demand that a lease has at a time, or 0.
constexpr std::uint32_t leased(std::uint64_t word, std::uint64_t now_us) {
    const std::uint64_t until_us = word & 0xffff'ffff'ffff;
    return now_us < until_us && until_us - now_us <= lease_max_us
               ? static_cast<std::uint32_t>(word >> 48)
               : 0;
}

/// Returns the limit that a lease has at a time, or 0 if it has none or a demand.
constexpr std::uint32_t leased_limit(std::uint64_t word, std::uint64_t now_us) {
    const std::uint32_t found = leased(word, now_us);
    return found <= in_flight_max ? found : 0;
}

/// Returns the smaller one of the user's limit and a lease's limit, or 0 if there is no limit.
inline std::uint32_t in_flight_limit(const Gate &gate, std::uint64_t now_us) {
    const std::uint32_t limit = gate.limit, leased = leased_limit(gate.lease, now_us);
    return limit && leased ? std::min(limit, leased) : std::max(limit, leased);
}

} // namespace nvtaskset
