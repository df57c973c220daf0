// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The waiting warps of an SM, by the cycle in which they are ready. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_WHEEL_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_WHEEL_HPP

#include <array>
#include <bit>
#include <limits>

#include "warp.hpp"

namespace engine {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

class Wheel {
  public:
    Wheel() { heads_.fill(-1); }

    /** Adds a waiting warp. @param now before warp.due */
    void add(Live &live, std::int32_t number, std::int64_t now) {
        Warp &warp = live.warp(number);
        // A warp that is due after more than a turn of the wheel is added again after the turn.
        const std::size_t slot = slot_of(std::min(warp.due, now + slots - 1));
        warp.next = heads_[slot];
        heads_[slot] = number;
        used_[slot / 64] |= std::uint64_t{1} << slot % 64;
    }

    /** Calls @p ready for each warp that is due now. The caller must not leave out a cycle whose
     * slot is used. */
    void turn(Live &live, std::int64_t now, auto ready) {
        const std::size_t slot = slot_of(now);
        std::int32_t number = heads_[slot];
        if (number < 0)
            return;
        heads_[slot] = -1;
        used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
        while (number >= 0) {
            const std::int32_t next = live.warp(number).next;
            if (live.warp(number).due > now)
                add(live, number, now);
            else
                ready(number);
            number = next;
        }
    }

    /** Returns the first cycle after now whose slot is used. */
    std::int64_t next(std::int64_t now) const {
        const std::size_t first = slot_of(now + 1);
        for (std::size_t n = 0; n <= words; n++) {
            const std::size_t word = (first / 64 + n) % words;
            std::uint64_t bits = used_[word];
            if (n == 0)
                bits &= ~std::uint64_t{0} << first % 64;
            else if (n == words)
                bits &= ~(~std::uint64_t{0} << first % 64);
            if (!bits)
                continue;
            const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            return now + 1 +
                   static_cast<std::int64_t>((slot - first) % static_cast<std::size_t>(slots));
        }
        return never;
    }

  private:
    static constexpr std::int64_t slots = 1024;
    static constexpr std::size_t words = 16;
    static std::size_t slot_of(std::int64_t cycle) {
        return static_cast<std::size_t>(cycle) % static_cast<std::size_t>(slots);
    }

    std::array<std::int32_t, static_cast<std::size_t>(slots)> heads_;
    std::array<std::uint64_t, words> used_ = {};
};

} // namespace engine

#endif
