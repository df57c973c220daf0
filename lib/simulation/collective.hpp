// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How far the ranks of a job are with their collectives.
///
/// A collective is a ring of rounds. In each round a rank sends to the rank after it, and from the
/// second round on it sends what the rank before it sent in the previous round. So a rank begins a
/// round when the rank before it has ended the previous one, and in that way each rank waits for
/// all others. A rank also waits while it is eight rounds ahead of the rank after it, as NCCL has
/// eight buffers for each connection (NCCL_STEPS). A collective is done when all ranks have ended
/// its last round.
///
/// Rounds are counted from the job's first collective on, as all ranks have the same collectives.
#pragma once

#include "host.hpp"

namespace simulation {

class Collectives {
  public:
    static constexpr std::int64_t most_ahead = 8; ///< rounds

    explicit Collectives(std::size_t ranks) : ended_(ranks), joined_(ranks) {}

    /// Returns how many rounds the rank has ended.
    std::int64_t ended(std::size_t rank) const { return ended_[rank]; }
    /// Returns whether all ranks have ended so many rounds.
    bool have_all_ended(std::int64_t rounds) const;
    /// Returns whether the rank may begin its next round.
    /// @param is_first the round is the first one of a collective
    bool may_begin(std::size_t rank, bool is_first) const;
    /// Ends the rank's round.
    /// @param is_last the round is the last one of a collective
    void end_round(std::size_t rank, bool is_last);

    /// Sets whether the rank runs a collective that progresses only while all ranks run it.
    /// @param time it takes so long; the longest time that a rank has for it counts
    void set_joined(std::size_t rank, bool joined, Ns time, Ns now);
    /// Returns when that collective is done if all ranks go on; never, if some do not run it.
    Ns joint_end() const;
    /// Ends that collective, which is one round of each rank.
    void end_joint();

    /// Returns the ranks that may have to go on since the last call.
    std::vector<std::size_t> take_awaited() { return std::exchange(awaited_, {}); }

  private:
    std::size_t before(std::size_t rank) const { return (rank ? rank : ended_.size()) - 1; }
    std::size_t after(std::size_t rank) const { return rank + 1 < ended_.size() ? rank + 1 : 0; }
    void await_all();

    std::vector<std::int64_t> ended_; ///< rounds, by rank
    std::vector<bool> joined_;        ///< by rank
    std::size_t joined_count_ = 0;
    Ns joint_time_ = 0, joint_done_ = 0; ///< of the collective that all ranks run together
    Ns joint_since_ = 0;                 ///< all ranks run it since then, if they do
    std::vector<std::size_t> awaited_;
};

} // namespace simulation
