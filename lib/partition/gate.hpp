// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What holds for launches, as the words of a Gate have it: a limit of those in flight, or
/// what a program that keeps goals asks of them for a while.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "state.hpp"

namespace nvtaskset {

/// The largest limit; CUDA itself queues about as many.
inline constexpr std::uint32_t in_flight_max = 1024;
/// A lease that ends later was not meant: it has no effect.
inline constexpr std::uint64_t lease_max_us = 3'600'000'000;

/// In place of a leased limit. To the library of an earlier nvtaskset they are limits that nothing
/// reaches.
namespace demand {
/// Launches that have ended are counted.
inline constexpr std::uint32_t count = 0xfffd;
/// The same, and the beginning and the end of requests are shown (Work).
inline constexpr std::uint32_t watch = 0xfffe;
/// No launch is made until the lease ends.
inline constexpr std::uint32_t hold = 0xffff;
} // namespace demand

/// CLOCK_MONOTONIC, which all processes of a machine share.
inline std::uint64_t monotonic_us() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

/// In one word, as the two belong together: a limit, and the time from which on it does not hold. A
/// program that renews it and is killed leaves nothing behind.
constexpr std::uint64_t lease_word(std::uint32_t limit, std::uint64_t until_us) {
    return std::uint64_t{limit} << 48 | (until_us & 0xffff'ffff'ffff);
}

/// A limit or a demand, at a time; 0: none.
constexpr std::uint32_t leased(std::uint64_t word, std::uint64_t now_us) {
    const std::uint64_t until_us = word & 0xffff'ffff'ffff;
    return now_us < until_us && until_us - now_us <= lease_max_us
               ? static_cast<std::uint32_t>(word >> 48)
               : 0;
}

/// The limit of a lease at a time; 0: none.
constexpr std::uint32_t leased_limit(std::uint64_t word, std::uint64_t now_us) {
    const std::uint32_t found = leased(word, now_us);
    return found <= in_flight_max ? found : 0;
}

/// The smaller one of the user's limit and of a lease; 0: none.
inline std::uint32_t in_flight_limit(const Gate &gate, std::uint64_t now_us) {
    const std::uint32_t limit = gate.limit, leased = leased_limit(gate.lease, now_us);
    return limit && leased ? std::min(limit, leased) : std::max(limit, leased);
}

} // namespace nvtaskset
