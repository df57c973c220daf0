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

#include <utility>

#include "host.hpp"

namespace simulation {

class Collectives {
  public:
    static constexpr std::int64_t most_ahead = 8; ///< rounds

    explicit Collectives(std::size_t ranks) : ranks_(ranks) {}

    /// Returns how many rounds the rank has ended.
    std::int64_t ended(std::size_t rank) const { return ranks_[rank].ended; }
    /// Returns whether the rank may begin its next round. If not, take_awaited() has it later.
    bool may_begin(std::size_t rank);
    /// Returns whether all ranks have ended the rounds that this rank has ended. If not,
    /// take_awaited() has it later.
    bool have_all_ended(std::size_t rank);
    void end_round(std::size_t rank);

    /// Sets whether the rank runs a collective that progresses only while all ranks run it.
    /// @param time it takes so long; the longest time that a rank has for it counts
    void set_joined(std::size_t rank, bool joined, Ns time, Ns now);
    /// Returns when that collective is done if all ranks go on; never, if some do not run it.
    Ns joint_end() const;
    /// Ends that collective, which is one round of each rank.
    void end_joint();

    /// Returns the ranks that waited and need not wait any more, since the last call.
    std::vector<std::size_t> take_awaited() { return std::exchange(awaited_, {}); }

  private:
    enum class Wait { none, round, end };
    struct Progress {
        std::int64_t ended = 0; ///< rounds
        Wait wait = Wait::none;
        bool joined = false;
    };

    std::size_t before(std::size_t rank) const { return (rank ? rank : ranks_.size()) - 1; }
    std::size_t after(std::size_t rank) const { return rank + 1 < ranks_.size() ? rank + 1 : 0; }
    bool is_ready(std::size_t rank) const;
    /// Returns whether the rank need not wait.
    bool try_to(Wait wait, std::size_t rank);
    void wake(std::size_t rank);

    std::vector<Progress> ranks_;
    std::size_t joined_count_ = 0;
    Ns joint_time_ = 0, joint_done_ = 0; ///< of the collective that all ranks run together
    Ns joint_since_ = 0;                 ///< all ranks run it since then, if they do
    std::vector<std::size_t> awaited_;
};

} // namespace simulation
