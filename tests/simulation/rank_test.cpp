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
            Ns next = end;
            for (const Rank &rank : ranks_)
                next = std::min(next, rank.due());
            if (next >= end)
                break;
            now_ = next;
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

TEST(Rounds, RankIsAtMostEightAheadOfTheNext) {
    Collectives three(3);
    for (int round = 0; round < 20; round++)
        three.end_round(2);
    for (int round = 0; round < 8; round++) {
        ASSERT_TRUE(three.may_begin(0)) << round;
        three.end_round(0);
    }
    static_cast<void>(three.take_awaited());
    EXPECT_FALSE(three.may_begin(0));
    three.end_round(1);
    EXPECT_EQ(three.take_awaited(), std::vector<std::size_t>{0});
    EXPECT_TRUE(three.may_begin(0));
}

TEST(Rounds, RankWaitsForTheOneBeforeIt) {
    Collectives three(3);
    three.end_round(1);
    EXPECT_TRUE(three.may_begin(2));
    EXPECT_FALSE(three.may_begin(1)); // rank 0 has ended none
    three.end_round(2);
    EXPECT_EQ(three.take_awaited(), std::vector<std::size_t>());
    three.end_round(0);
    EXPECT_EQ(three.take_awaited(), std::vector<std::size_t>{1});
}

} // namespace
