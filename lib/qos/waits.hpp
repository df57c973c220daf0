// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How long a tenant waits for its turns: the percentiles of all waits so far, in a memory of
/// fixed size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "goal.hpp"

namespace qos {

/// Waits by length. Below 128 ns each length has a counter of its own. From there on 64 counters
/// divide the lengths from each power of two to the next, so that a percentile is too long by 1/64
/// (1.6 %) at most, and never too short. What is longer than 18 minutes counts as one length.
class Waits {
  public:
    /// Fewer waits have no 99th percentile: one or two waits would decide it.
    static constexpr std::int64_t least_for_p99 = 100;

    /// @param wait below 0: as 0
    void add(Ns wait) {
        wait = std::max<Ns>(wait, 0);
        counters_[counter_of(wait)]++;
        count_++;
        longest_ = std::max(longest_, wait);
    }

    std::int64_t count() const { return count_; }
    /// Exact; 0: there was none.
    Ns longest() const { return longest_; }

    /// @p part of the waits, or more, are at most so long: the least such length, rounded up to its
    /// counter's longest. Empty if there was none.
    /// @param part from 0 to whole
    std::optional<Ns> quantile(Part part) const {
        // So many are at least that part.
        const std::int64_t wanted =
            std::max<std::int64_t>(1, count_ - scaled(count_, whole - part, whole));
        std::int64_t sum = 0;
        for (std::size_t n = 0; n < counters_.size(); n++)
            if ((sum += counters_[n]) >= wanted)
                return std::min(longest_of(n), longest_);
        return std::nullopt;
    }

    /// Empty below least_for_p99 waits.
    std::optional<Ns> p99() const {
        return count_ < least_for_p99 ? std::nullopt : quantile(99 * point);
    }

  private:
    static constexpr std::size_t bits = 6, parts = 1 << bits; ///< of an octave
    static constexpr std::size_t octaves = 34;                ///< the last one ends at 2^40 ns

    static constexpr std::size_t counter_of(Ns wait) {
        const auto ns = static_cast<std::uint64_t>(wait);
        if (ns < 2 * parts)
            return static_cast<std::size_t>(ns);
        const auto shift = static_cast<std::size_t>(std::bit_width(ns)) - bits - 1;
        return std::min(shift * parts + static_cast<std::size_t>(ns >> shift),
                        (octaves + 1) * parts - 1);
    }

    /// The longest wait of a counter.
    static constexpr Ns longest_of(std::size_t counter) {
        if (counter < 2 * parts)
            return static_cast<Ns>(counter);
        if (counter == (octaves + 1) * parts - 1)
            return std::numeric_limits<Ns>::max();
        const std::size_t shift = counter / parts - 1;
        return static_cast<Ns>(((counter % parts + parts + 1) << shift) - 1);
    }

    std::array<std::int64_t, (octaves + 1) *parts> counters_ = {};
    std::int64_t count_ = 0;
    Ns longest_ = 0;
};

} // namespace qos
