// SPDX-License-Identifier: MIT OR GPL-2.0
// Programs of one and of two ranks, worked out by hand. The test decides who has a GPU.
#include <algorithm>
#include <gtest/gtest.h>

#include "jobs.hpp"
#include "lib/simulation/rank.hpp"

namespace {

using namespace test_jobs;
using qos::us;
using simulation::Collectives;
using simulation::Rank;

/// By then the processes have begun, which they do within 3 ms.
constexpr Ns begun = 3000 * us;

class Ranks {
  public:
    Ranks(std::size_t count, const simulation::Program &program, Ns mean_gap = 0)
        : scenario_(
              with_gaps(scenario({job("j", std::vector<std::size_t>(count), program)}), mean_gap)),
          collectives_(count), arrivals_(scenario_.jobs[0], 1), runs_(count) {
        for (std::size_t n = 0; n < count; n++)
            ranks_.emplace_back(scenario_, 0, n, collectives_, arrivals_);
    }

    /// Lets ranks have their GPUs from now on, until @p end.
    void run(const std::vector<bool> &runs, Ns end) {
        runs_ = runs;
        wake_all();
        for (;;) {
            Ns next = std::min(end, collectives_.end());
            for (const Rank &rank : ranks_)
                next = std::min(next, rank.due());
            if (next >= end)
                break;
            now_ = next;
            if (collectives_.end() == now_)
                collectives_.finish();
            wake_all();
        }
        now_ = end;
    }
    const Rank &operator[](std::size_t rank) const { return ranks_[rank]; }
    /// Returns when the rank ended its first pass, or 0.
    Ns first_end(std::size_t rank) const { return ends_[rank] / us; }
    void kill(std::size_t rank) { ranks_[rank].kill(now_); }

  private:
    static simulation::Scenario with_gaps(simulation::Scenario one, Ns mean_gap) {
        one.jobs[0].mean_gap = mean_gap;
        return one;
    }

    /// Those that wait for each other need several rounds.
    void wake_all() {
        for (int round = 0; round < 4; round++)
            for (std::size_t n = 0; n < ranks_.size(); n++) {
                ranks_[n].advance(now_, runs_[n]);
                if (ranks_[n].passes() > 0 && !ends_[n])
                    ends_[n] = now_;
            }
    }

    simulation::Scenario scenario_;
    Collectives collectives_;
    simulation::Arrivals arrivals_;
    std::deque<Rank> ranks_;
    std::vector<bool> runs_;
    Ns now_ = begun;
    mutable std::map<std::size_t, Ns> ends_; ///< of first passes, by rank
};

TEST(Ranks, KernelsFollowEachOther) {
    Ranks ranks(1, {kernel(100), kernel(250)});
    ranks.run({true}, 4000 * us);
    EXPECT_EQ(ranks.first_end(0), 3350);
    EXPECT_EQ(ranks[0].passes(), 2U); // the third one would end at 4050
}

TEST(Ranks, CpuLaunchesAhead) {
    // The CPU has launched the second kernel after 60 us, while the first one runs until 130 us.
    Ranks ranks(1, {kernel(100, 30), kernel(250, 30)});
    ranks.run({true}, 3400 * us);
    EXPECT_EQ(ranks.first_end(0), 3380);
}

TEST(Ranks, GpuWaitsForLaunches) {
    Ranks ranks(1, {kernel(10, 30), kernel(10, 30)});
    ranks.run({true}, 3045 * us);
    EXPECT_FALSE(ranks[0].has_work()); // the first kernel has ended, and the second comes at 60
    ranks.run({true}, 3100 * us);
    EXPECT_EQ(ranks.first_end(0), 3070);
}

TEST(Ranks, ThinkingLeavesTheGpuFree) {
    Ranks ranks(1, {kernel(100), think(200), kernel(50)});
    ranks.run({true}, 3101 * us);
    EXPECT_FALSE(ranks[0].has_work());
    ranks.run({true}, 3400 * us);
    EXPECT_EQ(ranks.first_end(0), 3350);
}

TEST(Ranks, WorkStopsWithoutTheGpu) {
    Ranks ranks(1, {kernel(300)});
    ranks.run({true}, 3100 * us);
    ranks.run({false}, 9000 * us);
    EXPECT_TRUE(ranks[0].has_work());
    ranks.run({true}, 9250 * us);
    EXPECT_EQ(ranks.first_end(0), 9200);
}

TEST(Ranks, TogetherTakeTheTimeOfTheCollective) {
    Ranks ranks(2, {collective(400, 4)});
    ranks.run({true, true}, 3500 * us);
    EXPECT_EQ(ranks.first_end(0), 3400);
    EXPECT_EQ(ranks.first_end(1), 3400);
}

TEST(Ranks, LateRankIsWaitedFor) {
    Ranks ranks(2, {collective(400, 4)});
    ranks.run({true, false}, 5000 * us);
    EXPECT_TRUE(ranks[0].has_work()); // it spins
    ranks.run({true, true}, 6000 * us);
    // Its own first round was over before.
    EXPECT_EQ(ranks.first_end(0), 5400);
    EXPECT_EQ(ranks.first_end(1), 5400);
}

TEST(Ranks, NeverTogetherTakeATurnForEachRoundAtMost) {
    Ranks ranks(2, {collective(400, 4)});
    for (Ns turn = 0; turn < 6; turn++)
        ranks.run({turn % 2 == 0, turn % 2 == 1}, begun + (turn + 1) * 1000 * us);
    // Rounds end at 3.1 | 4.1, 4.2 | 5.1, 5.2 | 6.1, 6.2 | 7.1.
    EXPECT_EQ(ranks.first_end(0), 7100);
    EXPECT_EQ(ranks.first_end(1), 8000);
}

TEST(Ranks, CollectiveOfNoRoundsTakesAllAtTheSameTime) {
    Ranks ranks(2, {collective(400, 0)});
    ranks.run({true, false}, 4000 * us);
    ranks.run({false, true}, 5000 * us);
    ranks.run({true, true}, 5300 * us);
    ranks.run({true, false}, 6000 * us);
    EXPECT_EQ(ranks.first_end(0), 0);
    ranks.run({true, true}, 6200 * us);
    EXPECT_EQ(ranks.first_end(0), 6100);
    EXPECT_EQ(ranks.first_end(1), 6100);
}

TEST(Ranks, OverlapLetsLaterItemsRun) {
    Ranks ranks(2, {kernel(100), collective(300, 2, true), kernel(100), join(), kernel(50)});
    ranks.run({true, true}, 4000 * us);
    EXPECT_EQ(ranks.first_end(0), 3450);
}

TEST(Ranks, OverlappedCollectivesFollowEachOther) {
    Ranks ranks(2, {collective(300, 2, true), collective(200, 2, true), kernel(100), join()});
    ranks.run({true, true}, 4000 * us);
    EXPECT_EQ(ranks.first_end(0), 3500);
}

TEST(Ranks, WaitForARankThatWasKilled) {
    Ranks ranks(2, {collective(400, 4)});
    ranks.kill(1);
    ranks.run({true, true}, 100'000 * us);
    EXPECT_EQ(ranks.first_end(0), 0);
    EXPECT_TRUE(ranks[0].has_work());
    EXPECT_FALSE(ranks[1].has_work());
}

TEST(Ranks, RequestsWaitInLine) {
    // They come faster than they can be served, so that the GPU is never idle after the first.
    Ranks ranks(1, {kernel(1000)}, 100 * us);
    ranks.run({true}, 100'000 * us);
    EXPECT_GE(ranks[0].passes(), 94U);
    EXPECT_LE(ranks[0].passes(), 97U);
}

/// Begins a collective on each rank at 0, of rounds that take a microsecond each.
void begin_all(Collectives &all, std::size_t ranks) {
    for (std::size_t rank = 0; rank < ranks; rank++)
        all.begin(rank, 20 * us, 20, 0);
}

TEST(Rounds, RankIsAtMostEightAheadOfTheNext) {
    Collectives ten(10);
    begin_all(ten, 10);
    EXPECT_EQ(ten.end(), 20 * us);
    ten.set_running(1, false, 0);
    EXPECT_EQ(ten.end(), simulation::never);
    // Each rank is a round ahead of the one before it, and rank 0 comes last.
    for (std::size_t rank = 2; rank < 10; rank++)
        EXPECT_EQ(ten.ended(rank, 100 * us), static_cast<std::int64_t>(rank - 1));
    EXPECT_EQ(ten.ended(0, 100 * us), 8) << "rank 9 has ended eight, so that it might end nine";
    ten.set_running(1, true, 200 * us);
    // Rank 1 goes on without a break, and the others wait for no one else.
    EXPECT_EQ(ten.end(), 220 * us);
}

TEST(Rounds, RankWaitsForTheOneBeforeIt) {
    Collectives three(3);
    begin_all(three, 3);
    three.set_running(0, false, 0);
    EXPECT_EQ(three.ended(1, 10 * us), 1);
    EXPECT_EQ(three.ended(2, 10 * us), 2);
    three.set_running(0, true, 10 * us);
    EXPECT_EQ(three.ended(1, 11 * us), 1);
    EXPECT_EQ(three.ended(1, 12 * us), 2) << "rank 0 has ended a round";
}

TEST(Rounds, SlowRankDelaysTheOthersInEachRound) {
    Collectives two(2);
    two.begin(0, 4 * us, 4, 0);
    two.begin(1, 40 * us, 4, 0);
    // Rank 0 has its last round after the third one of rank 1.
    EXPECT_EQ(two.end(), 40 * us);
    EXPECT_EQ(two.ended(0, 35 * us), 4);
    two.set_running(1, false, 35 * us);
    EXPECT_EQ(two.end(), simulation::never);
    two.set_running(1, true, 50 * us);
    EXPECT_EQ(two.end(), 55 * us);
}

TEST(Rounds, StoppedRankKeepsItsPartOfARound) {
    Collectives two(2);
    begin_all(two, 2);
    two.set_running(0, false, 4500);
    EXPECT_EQ(two.ended(0, 5 * us), 4);
    two.set_running(0, true, 10 * us);
    EXPECT_EQ(two.ended(0, 10'499), 4);
    EXPECT_EQ(two.ended(0, 10'500), 5);
    // Rank 1 has ended five rounds meanwhile, and waits for the end of the fifth one of rank 0.
    EXPECT_EQ(two.end(), 25'500);
    two.finish();
    EXPECT_TRUE(two.is_done(0));
    EXPECT_TRUE(two.is_done(1));
}

} // namespace
