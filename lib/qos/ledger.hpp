// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a tenant got over a second, and whether that is what its goal promises.
#pragma once

#include <algorithm>
#include <deque>

#include "controller.hpp"

namespace qos {

/// Of the last second, or less at the beginning.
struct Balance {
    Ns time = 0, used = 0, backlogged = 0, progress = 0;
};

/// Epochs of one tenant, as many as a second has.
class Ledger {
  public:
    void add(const Observation &seen, Ns progress, Ns length) {
        epochs_.push_back({length, seen.used, seen.backlogged, progress});
        balance_ = sum(balance_, epochs_.back(), 1);
        while (balance_.time - epochs_.front().time >= second) {
            balance_ = sum(balance_, epochs_.front(), -1);
            epochs_.pop_front();
        }
    }
    const Balance &balance() const { return balance_; }

  private:
    static Balance sum(const Balance &a, const Balance &b, Ns sign) {
        return {a.time + sign * b.time, a.used + sign * b.used, a.backlogged + sign * b.backlogged,
                a.progress + sign * b.progress};
    }

    std::deque<Balance> epochs_;
    Balance balance_ = {};
};

/// Returns for how long a goal is to be kept before what its tenant got is a part of the time. A
/// cap's pauses and what a share is repaid take up to some epochs, and a part of less time than
/// that says nothing.
constexpr Ns least_for_part(const Settings &settings) {
    return std::max(second, settings.repaid_in * settings.epoch);
}

/// Returns @p used as a part of @p time; nullopt: the time is less than least_for_part().
constexpr std::optional<Part> part_of(Ns used, Ns time, const Settings &settings) {
    return time >= least_for_part(settings) ? std::optional(scaled(used, whole, time))
                                            : std::nullopt;
}

/// How far a second may be from a goal: one point of it.
constexpr Ns allowance(const Balance &balance) {
    return scaled(balance.time, point, whole);
}

/// Did it get what it is promised, and not more than its cap? Always, before a second has passed.
constexpr bool is_kept(const Goal &goal, const Balance &balance) {
    if (balance.time < second)
        return true;
    const bool promise = !is_promised(goal.aim) || balance.progress + allowance(balance) >=
                                                       scaled(balance.backlogged, goal.part, whole);
    const bool cap =
        !goal.cap || balance.used <= scaled(balance.time, *goal.cap, whole) + allowance(balance);
    return promise && cap;
}

} // namespace qos
