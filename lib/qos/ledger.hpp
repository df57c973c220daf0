// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a tenant got over a second, and in the last ten of them.
#pragma once

#include <algorithm>
#include <deque>

#include "controller.hpp"

namespace qos {

/// Sums over the last second, or over less at the beginning.
struct Balance {
    Ns time = 0, used = 0, backlogged = 0, progress = 0;
    Ns idle = 0; ///< pauses between its turns, without absences (Demand::longest_pause)
    Bounds bounds = {};

    void add(const Balance &other, Ns sign) {
        time += sign * other.time;
        used += sign * other.used;
        backlogged += sign * other.backlogged;
        progress += sign * other.progress;
        idle += sign * other.idle;
        bounds.add(other.bounds, sign);
    }
};

/// Epochs of one tenant that are judged together.
class Window {
  public:
    /// @param length of the window
    void add(const Balance &epoch, Ns length) {
        epochs_.push_back(epoch);
        balance_.add(epoch, 1);
        while (balance_.time - epochs_.front().time >= length) {
            balance_.add(epochs_.front(), -1);
            epochs_.pop_front();
        }
    }
    const Balance &balance() const { return balance_; }

  private:
    std::deque<Balance> epochs_;
    Balance balance_ = {};
};

/// What a tenant had in the last window, and in the last ten.
class Ledger {
  public:
    /// lately() has so many windows.
    static constexpr Ns windows = 10;
    /// The time after the tenant's first work in which nvqos learns what it wants, and changes the turns
    /// of all tasks for it. It says nothing of a goal. If a window is longer, one window is taken.
    static constexpr Ns learning = 2 * second;

    /// Adds an epoch. While the tenant is new, it does not count for lately().
    /// @param window what balance() is about: a second, or longer (window_of())
    void add(const Observation &seen, Ns progress, Ns length, Ns window = second) {
        const Ns idle = seen.idle_alone();
        const Balance epoch{length,   seen.used,        seen.backlogged - idle,
                            progress, seen.idle + idle, seen.bounds};
        if (known_for_ >= std::max(learning, window))
            lately_.add(epoch, windows * window);
        last_.add(epoch, window);
        if (known_for_ > 0 || seen.backlogged > 0)
            known_for_ += length;
        is_new_ = known_for_ > 0 && known_for_ < std::max(learning, window) + window;
    }
    const Balance &balance() const { return last_.balance(); }
    /// Returns the sums over the last ten windows, or over less at the beginning.
    const Balance &lately() const { return lately_.balance(); }
    /// Returns whether balance() says something of a goal: a second has passed, and nothing of it was in
    /// the time in which nvqos learned. A tenant that had no work so far is judged, too.
    bool is_judged() const { return last_.balance().time >= second && !is_new_; }

  private:
    Window last_, lately_;
    Ns known_for_ = 0; ///< since its first work
    bool is_new_ = false;
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

/// Returns for how long a tenant is judged together: a second, or ten bursts if they are longer
/// than 100 ms, since a second then has too few of them to have a part of it.
constexpr Ns window_of(Ns burst) {
    return burst > 100 * ms ? std::clamp(10 * burst, second, 10 * second) : second;
}

} // namespace qos
