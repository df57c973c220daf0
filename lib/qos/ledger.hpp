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

/// Epochs of one tenant that are judged together.
class Window {
  public:
    /// @param length of the window
    void add(const Balance &epoch, Ns length) {
        epochs_.push_back(epoch);
        balance_ = sum(balance_, epoch, 1);
        while (balance_.time - epochs_.front().time >= length) {
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

/// What a tenant had in the last window, and in the last ten.
class Ledger {
  public:
    /// lately() has so many windows.
    static constexpr Ns windows = 10;

    /// @param window what balance() is about: a second, or longer (window_of())
    void add(const Observation &seen, Ns progress, Ns length, Ns window = second) {
        const Ns idle = seen.idle_alone();
        const Balance epoch{length, seen.used, seen.backlogged - idle, progress, seen.idle + idle};
        last_.add(epoch, window);
        lately_.add(epoch, windows * window);
    }
    const Balance &balance() const { return last_.balance(); }
    /// Returns the sums over the last ten windows, or over less at the beginning.
    const Balance &lately() const { return lately_.balance(); }

  private:
    Window last_, lately_;
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

/// Returns how much less than promised the tenant got, beyond the point by which it may miss that;
/// 0 or below: it got enough.
constexpr Ns missing(const Goal &goal, const Balance &balance) {
    return promised_time(goal, balance) - allowance(balance) - balance.progress;
}

/// Returns how much more may be missing in a second if the seconds before it make up for that. Bursts
/// are whole, so that a second has one more or less at each of its ends, wherever it begins.
constexpr Ns bursts_at_ends(const Goal &goal, const Balance &balance, Ns burst) {
    return std::min(2 * burst, promised_time(goal, balance) / 2);
}

/// Returns whether the tenant got what it is promised in the last second, and not more than its
/// cap. A second with a burst too few counts as kept if the last ten together have their part, as
/// the burst is in another one of them. Before a second has passed nothing is missed.
/// @param burst Observation::burst
inline bool is_kept(const Goal &goal, const Ledger &ledger, Ns burst) {
    const Balance &last = ledger.balance();
    if (last.time < second)
        return true;
    const Ns less = missing(goal, last);
    const bool promise = less <= 0 || (less <= bursts_at_ends(goal, last, burst) &&
                                       missing(goal, ledger.lately()) <= 0);
    const bool cap =
        !goal.cap || last.used <= scaled(last.time, *goal.cap, whole) + allowance(last);
    return promise && cap;
}

} // namespace qos
