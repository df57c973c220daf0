// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a run shows: times on GPUs, and ends of passes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine.hpp"
#include "lib/qos/why_not.hpp"

namespace simulation {

/// The verdict of nvqos at the end of an epoch on a goal in the second before it.
struct Verdict {
    Ns at; ///< the end of the epoch
    bool kept;
    std::optional<qos::WhyNot> why; ///< the reason that nvqos gives, if it gives one
};

/// A rank on its GPU. Times on the GPU are times with work.
class RankUse {
  public:
    /// @param begin, end of the time that is measured
    RankUse(Ns begin, Ns end);

    /// The rank had the GPU. In the order of time.
    void add(Ns begin, Ns end);
    void end_turn(Ns when) { turns_ += when >= begin_ && when < end_; }

    Ns used() const { return used_; }
    std::int64_t turns() const { return turns_; } ///< that ended
    /// Returns the longest time on the GPU in a second that begins at a multiple of 50 ms; empty:
    /// less than such a second is measured.
    std::optional<Ns> most_in_a_second() const;
    /// Returns the time on the GPU in each whole second that is measured, from the first multiple
    /// of 50 ms on.
    std::vector<Ns> in_seconds() const;
    /// Returns for each of these seconds the reason at the end of the last epoch in it; empty:
    /// there is none, or no epoch ended in it, because a gang had windows.
    std::vector<std::optional<qos::WhyNot>> reasons_in_seconds() const;

    std::vector<Verdict> verdicts = {}; ///< one for each epoch, in the order of time

  private:
    /// Returns the time on the GPU in the second that begins with that bin.
    Ns second_from(std::size_t bin) const;
    std::size_t first_bin() const;
    std::size_t last_bin() const; ///< the one after it

    Ns begin_, end_;
    Ns used_ = 0;
    std::int64_t turns_ = 0;
    std::vector<Ns> bins_; ///< of 50 ms, from 0 on
};

/// The ranks of a job.
struct JobUse {
    std::vector<RankUse> ranks;
    Ns together = 0;         ///< so long all ranks had their GPUs
    std::vector<Ns> times;   ///< of passes that ended, from arrival, or from the previous end
    std::int64_t passes = 0; ///< that ended
    /// Of an engine: its requests that came and ended in the measured time; `times` and `passes` are
    /// about all that ended in it.
    std::vector<ServedRequest> requests;
    Ns serving = 0; ///< of an engine: how long it had requests
    /// How long engines of other jobs had no request, and how long this job had its GPU then, in
    /// the sum of its ranks.
    Ns free = 0, used_while_free = 0;
    bool was_killed = false; ///< a process of it
};

struct Measures {
    Ns begin, end; ///< what is measured
    std::vector<JobUse> jobs;
    std::int64_t requests = 0; ///< in the whole run
    Ns length() const { return end - begin; }
};

} // namespace simulation
