// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a tenant got over a second, and whether that is what its goal promises.
#pragma once

#include <algorithm>
#include <deque>

#include "controller.hpp"

namespace qos {

/// Sums over the last second, or over less at the beginning.
struct Balance {
    Ns time = 0, used = 0, backlogged = 0, progress = 0;
    Ns idle = 0; ///< pauses between its turns, without absences (Demand::longest_pause)
};

/// Epochs of one tenant, as many as its window has.
class Ledger {
  public:
    /// @param window what balance() is about: a second, or longer (window_of())
    void add(const Observation &seen, Ns progress, Ns length, Ns window = second) {
        const Ns idle = seen.idle_alone();
        epochs_.push_back({length, seen.used, seen.backlogged - idle, progress, seen.idle + idle});
        balance_ = sum(balance_, epochs_.back(), 1);
        while (balance_.time - epochs_.front().time >= window) {
            balance_ = sum(balance_, epochs_.front(), -1);
            epochs_.pop_front();
        }
    }
    const Balance &balance() const { return balance_; }

  private:
    static Balance sum(const Balance &a, const Balance &b, Ns sign) {
        return {a.time + sign * b.time, a.used + sign * b.used, a.backlogged + sign * b.backlogged,
                a.progress + sign * b.progress, a.idle + sign * b.idle};
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

/// Returns what the tenant is promised of the time in the balance.
constexpr Ns promised_time(const Goal &goal, const Balance &balance) {
    if (goal.aim == Aim::share)
        return scaled(balance.backlogged + balance.idle,
                      part_to_keep(goal, balance.progress, balance.idle), whole);
    return is_promised(goal.aim) ? scaled(balance.backlogged, goal.part, whole) : 0;
}

/// Returns for how long a tenant is judged together: a second, or ten bursts if they are longer
/// than 100 ms, since a second then has too few of them to have a part of it.
constexpr Ns window_of(Ns burst) {
    return burst > 100 * ms ? std::clamp(10 * burst, second, 10 * second) : second;
}

/// Returns whether the tenant got what it is promised, and not more than its cap. Before a second
/// has passed nothing is missed.
constexpr bool is_kept(const Goal &goal, const Balance &balance) {
    if (balance.time < second)
        return true;
    const bool promise = balance.progress + allowance(balance) >= promised_time(goal, balance);
    const bool cap =
        !goal.cap || balance.used <= scaled(balance.time, *goal.cap, whole) + allowance(balance);
    return promise && cap;
}

} // namespace qos
