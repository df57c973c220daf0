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
/// Rounds are not events, because there are too many. As soon as each rank runs the collective or
/// has ended it, its end is known. If round N takes the same time on all ranks, a rank that waits
/// for another one has no more to do than that one. So the end is that of the rank which needs the
/// longest time without any wait. Else all rounds are worked out. If a rank is stopped before the
/// end, the rounds up to that time are worked out from the last change on.
///
/// Rounds are counted from the job's first collective on, as all ranks have the same collectives.
#pragma once

#include <array>

#include "host.hpp"

namespace simulation {

class Collectives {
  public:
    static constexpr std::int64_t most_ahead = 8; ///< rounds

    explicit Collectives(std::size_t ranks) : ranks_(ranks) {}

    /// Begins the rank's next collective, and runs it. The rank's previous one is done.
    /// @param rounds 0: it progresses only while all ranks run it
    void begin(std::size_t rank, Ns time, std::int64_t rounds, Ns now);
    /// Sets whether the rank runs the collective that it has begun.
    void set_running(std::size_t rank, bool runs, Ns now);
    /// Returns when finish() is to be called if no rank is stopped before; never, if some rank has
    /// to run first.
    Ns end() const { return end_; }
    /// Ends the collective, at the time end().
    void finish();
    /// Returns whether all ranks have ended the collective that the rank began.
    bool is_done(std::size_t rank) const { return ranks_[rank].target <= done_; }
    /// Returns how many rounds the rank has ended.
    std::int64_t ended(std::size_t rank, Ns now);

  private:
    struct Progress {
        std::int64_t ended = 0;  ///< rounds
        std::int64_t target = 0; ///< rounds at the end of the collective that was begun
        std::int64_t rounds = 0; ///< of that collective; 0 as in begin()
        bool runs = false;
        /// Each round takes so long, and one in `rounds` of a nanosecond `rest` times; `carried` of
        /// them are left over from earlier rounds.
        Ns length = 0;
        std::int64_t rest = 0, carried = 0;
        Ns since = 0;                            ///< it runs, or has `left`, since then
        Ns left = never;                         ///< of a round that was begun
        std::array<Ns, 2 *most_ahead> ends = {}; ///< of its last rounds, by their numbers

        /// Returns when the round ended; 0, if there is no such round.
        Ns end_of(std::int64_t round) const { return round < 0 ? 0 : ends[place(round)]; }
        void begin_round(Ns when);
        void end_round(Ns when);
        /// Returns how long the rounds after the one that was begun take.
        Ns after_round() const;
        static std::size_t place(std::int64_t round) {
            return static_cast<std::size_t>(round) % (2 * most_ahead);
        }
    };

    std::size_t before(std::size_t rank) const { return (rank ? rank : ranks_.size()) - 1; }
    std::size_t after(std::size_t rank) const { return rank + 1 < ranks_.size() ? rank + 1 : 0; }
    bool is_joint() const { return ranks_.front().rounds == 0; }
    /// Forgets the end that was foreseen, and rounds that were worked out up to it.
    void go_back(Ns now);
    /// Works out the collective's end, if it is certain.
    void foresee(Ns now);
    /// Works out all rounds until then. Nothing has to be worked out before a rank is stopped,
    /// because one that begins or goes on changes nothing that has ended before.
    void work_out(Ns until);
    /// Returns whether the rank ends its next round until then.
    bool end_next_round(std::size_t rank, Ns until);

    std::vector<Progress> ranks_;
    std::vector<Progress> known_; ///< ranks_ before rounds were worked out up to the end, if any
    Ns end_ = never;
    std::int64_t last_ = 0, done_ = 0; ///< rounds that were begun, and that all ranks ended
    /// The collective that all ranks run together: how long it takes, how long it ran before
    /// joint_since_, and since when it runs.
    Ns joint_time_ = 0, joint_done_ = 0, joint_since_ = 0;
};

} // namespace simulation
