// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Counts the launches of a task by what its page shows. A task may write its page itself, so
/// no number goes back, whatever the page has.
#pragma once

#include <cstdint>
#include <optional>

namespace nvqos {

class LaunchCount {
  public:
    /// A task that does not launch for so long has no work.
    static constexpr std::uint64_t idle_us = 1'000'000;

    struct Shown {
        std::uint64_t launched,
            ended;              ///< `ended` is read first, so that it is never the larger one
        std::uint64_t unmarked; ///< launches that no event follows so far
        /// Launches with ends that will not be seen. The task counts on between two reads of its
        /// page, so that it may be the larger one here.
        std::uint64_t unseen = 0;
    };
    /// Launches that were made and that ended since the last call.
    struct Progress {
        std::uint64_t launched, ended;
        bool waits; ///< some are in flight for certain
    };

    /// Counts what the page shows at @p now, in us of CLOCK_MONOTONIC. Launches that are in flight
    /// at the first call count when they end.
    /// @param is_held launches of the task wait; it then counts as a task with work
    Progress read(const Shown &shown, bool is_held, std::uint64_t now);
    /// Begins to count again.
    void reset() { counted_.reset(); }

    /// Returns whether nothing runs that the task has launched.
    bool is_drained() const { return is_drained_; }
    /// Returns whether the task has launched, or its launches were held, in the last second.
    bool has_work(std::uint64_t now) const { return now - launched_at_us_ < idle_us; }
    /// Returns how many counted launches are in flight.
    std::uint64_t in_flight() const;

  private:
    struct Counted {
        std::uint64_t launched, ended;
    };
    std::optional<Counted> counted_ = {};
    std::uint64_t gone_ = 0;           ///< launches that have ended, or will, without being seen to
    std::uint64_t launched_at_us_ = 0; ///< when the task was seen to launch, or to be held
    bool is_drained_ = true;
};

} // namespace nvqos
