// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Goals of tenants of a GPU that takes turns among them, and what is known of the GPU. Whole
/// numbers: times are nanoseconds, parts are millionths of the time that passes, switches included.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheme.hpp"

namespace qos {

using Ns = std::int64_t;
using Part = std::int64_t;

inline constexpr Part whole = 1'000'000, point = whole / 100;
inline constexpr Ns us = 1'000, ms = 1'000 * us, second = 1'000 * ms;

/// Returns a time in milliseconds, as programs print it.
constexpr double milliseconds(Ns ns) {
    return static_cast<double>(ns) / static_cast<double>(ms);
}

/// Returns a time in seconds, as programs print it.
constexpr double seconds(Ns ns) {
    return static_cast<double>(ns) / static_cast<double>(second);
}

enum class Aim {
    best_effort, ///< a part, by weight, of the time that the others leave
    share,       ///< at least this part of the time, while it has work
    speed,       ///< at least this part of the speed that it has alone. Costs::lost of each turn
                 ///< brings it no progress, so it gets as much more time
    latency,     ///< served first
    timeslice,   ///< turns of this length, whatever the others have
};

/// Returns whether the tenant has a part of the time for itself.
constexpr bool is_promised(Aim aim) {
    return aim == Aim::share || aim == Aim::speed;
}

/// A time that so many percent of an engine's requests are not to exceed.
struct Tail {
    Ns most = 0; ///< 0: not asked for
    std::int64_t percent = 99;
    bool operator==(const Tail &) const = default;
};

struct Goal {
    Aim aim = Aim::best_effort;
    Part part = 0;           ///< where is_promised()
    std::int64_t weight = 1; ///< with Aim::best_effort
    Ns slice = 0;            ///< with Aim::timeslice
    Ns p99 = 0; ///< with Aim::latency: 99 of 100 requests take no longer; 0: not asked for
    std::optional<Part> cap = std::nullopt; ///< in no second more than this
    /// With Aim::latency, of an engine that marks its requests: the time to the first token, and the
    /// mean time of each later one.
    Tail ttft = {}, tpot = {};
    bool is_marked() const { return ttft.most > 0 || tpot.most > 0; } ///< marks judge it
    bool operator==(const Goal &) const = default;
};

/// Measured on an H100 and an H200 (docs/partitions-measured.md).
struct Costs {
    Ns change = 84 * us; ///< from the end of a turn to the next task's
    Ns rest = 103 * us;  ///< by how much a turn is longer than its timeslice
    /// The part of each turn in which no work is done, because its end is lost and caches are cold
    /// at its beginning. It was 101 to 149 us for five kinds of kernels on an H100
    /// (tests/hardware/h100-580.159.04/qos_reach.json.xz).
    Ns lost = 150 * us;
    /// From the decision to pause a task until nothing of it runs: 0.65 ms for the driver's
    /// request, and what a turn's end takes.
    Ns pause = 750 * us;
    bool operator==(const Costs &) const = default;
};

struct Settings {
    Scheme scheme = Scheme::rollover; ///< but Scheme::rollover_time: by turns it is rollover
    Ns epoch = 100 * ms;
    Costs costs = {};
    /// Timeslices. The driver takes any; below 30 us nothing came of it (docs/qos-measured.md).
    Ns shortest = 30 * us, longest = second;
    /// A tenant is owed at most its goal of so many epochs.
    std::int64_t kept_epochs = 8;
    std::int64_t repaid_in = 4; ///< epochs
    Ns latency_slice = 16 * ms;
    bool operator==(const Settings &) const = default;

    Ns round() const { return epoch / 10; }        ///< as long as nothing takes a longer one
    Ns longest_round() const { return epoch / 4; } ///< in which promises can be kept epoch by epoch
};

/// @p value × @p numerator / @p denominator, rounded down; the product may exceed 64 bits.
constexpr std::int64_t scaled(std::int64_t value, std::int64_t numerator,
                              std::int64_t denominator) {
    __extension__ using Wide = __int128;
    return static_cast<std::int64_t>(static_cast<Wide>(value) * numerator / denominator);
}

} // namespace qos
