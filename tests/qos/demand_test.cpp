// SPDX-License-Identifier: MIT OR GPL-2.0
// Which tenant had work, from turns worked out by hand.
#include "lib/qos/demand.hpp"

#include <gtest/gtest.h>
#include <span>

namespace {

using namespace qos;

constexpr Ns long_round = 10 * ms;
/// A timeslice of 2 ms: a shorter turn gave way, and a longer one went on.
constexpr SliceLength slice{2 * ms, 2500 * us};

/// Adds turns of tasks 1 and 2, of tenants 0 and 1, that follow each other without a gap.
class Turns {
  public:
    std::optional<Ns> add(std::size_t tenant, Ns length, const std::optional<SliceLength> &of) {
        const Ns begin = now_ + 84 * us;
        now_ = begin + length;
        return demand.add({tenant, tenant + 1, begin, now_, true}, of, long_round);
    }
    std::optional<Ns> add(std::size_t tenant, Ns length) { return add(tenant, length, slice); }

    Demand demand;

  private:
    Ns now_ = second;
};

TEST(Demand, CountsTheWaitAfterATurnThatTheTimesliceEnded) {
    Demand demand;
    demand.add({0, 1, 0, 2100 * us, true}, slice, long_round);
    demand.add({1, 2, 2200 * us, 4300 * us, true}, slice, long_round);
    EXPECT_EQ(demand.add({0, 1, 4400 * us, 6500 * us, true}, slice, long_round), 2300 * us);
    const auto seen = demand.take(2);
    EXPECT_EQ(seen[0].used, 4200 * us);
    EXPECT_EQ(seen[0].backlogged, 6500 * us);
    EXPECT_EQ(seen[0].turns, 2);
    EXPECT_EQ(seen[1].backlogged, 2100 * us);
    EXPECT_EQ(demand.take(2)[0], Observation{});
}

TEST(Demand, CountsThePauseOfATaskWhoseNextTurnBeginsAsATimesliceEnds) {
    Turns turns;
    turns.add(0, 300 * us);
    turns.add(1, 2100 * us);
    EXPECT_EQ(turns.add(0, 300 * us), std::nullopt) << "nobody knows how long it waited";
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.used, 600 * us);
    EXPECT_EQ(seen.backlogged, 600 * us + 2100 * us + 168 * us);
    EXPECT_EQ(seen.idle, 0);
}

TEST(Demand, CountsNoPauseInWhichTheOtherTaskWentOnBeyondItsTimeslice) {
    Turns turns;
    turns.add(0, 300 * us);
    turns.add(1, 2600 * us);
    turns.add(0, 300 * us);
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.backlogged, 600 * us);
    EXPECT_EQ(seen.idle, 2600 * us + 168 * us);
}

TEST(Demand, CountsThePauseIfTheOtherTaskGaveWayToo) {
    Turns turns;
    turns.add(0, 300 * us);
    turns.add(1, 500 * us);
    turns.add(0, 300 * us);
    EXPECT_EQ(turns.demand.take(1)[0].idle, 0) << "the other task may have had work for all of it";
}

/// A task with work would have had a turn between two turns of the same neighbour.
TEST(Demand, CountsOnlyTheLastRoundOfAPauseThatOthersDivide) {
    Turns turns;
    turns.add(0, 300 * us);
    for (int n = 0; n < 3; n++) {
        turns.add(1, 2100 * us);
        turns.add(2, 2100 * us);
    }
    turns.add(0, 300 * us);
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.backlogged, 600 * us + 2 * 2100 * us + 3 * 84 * us);
    EXPECT_EQ(seen.idle, 4 * 2100 * us + 4 * 84 * us);
}

TEST(Demand, CountsAnAbsenceAsNeitherWorkNorPause) {
    Turns turns;
    turns.add(0, 300 * us);
    turns.add(1, Demand::longest_pause);
    turns.add(0, 300 * us);
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.backlogged, 600 * us);
    EXPECT_EQ(seen.idle, 0);
}

TEST(Demand, CountsNoWorkWhileNobodyHasTheEngine) {
    Demand demand;
    demand.add({0, 1, 0, 2100 * us, true}, slice, long_round);
    demand.add({0, 1, 13 * ms, 15 * ms, true}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0].backlogged, 4100 * us);
}

TEST(Demand, KnowsNothingWithoutATimesliceOrAfterALoss) {
    Demand demand;
    demand.add({0, 1, 0, 2 * ms, true}, std::nullopt, long_round);
    demand.add({0, 1, 3 * ms, 5 * ms, true}, slice, long_round);
    demand.lose();
    demand.add({0, 1, 6 * ms, 8 * ms, true}, slice, long_round);
    const auto seen = demand.take(1)[0];
    EXPECT_EQ(seen.backlogged, 6 * ms);
    EXPECT_EQ(seen.idle, 0) << "a time that cannot be seen is no pause";
}

TEST(Demand, ATurnMayGoOnOverEpochs) {
    Demand demand;
    demand.add({0, 1, 0, ms, false}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0].used, ms);
    demand.add({0, 1, ms, 2100 * us, true}, slice, long_round);
    demand.add({1, 2, 2200 * us, 3900 * us, true}, slice, long_round);
    EXPECT_EQ(demand.add({0, 1, 4 * ms, 5 * ms, true}, slice, long_round), 1900 * us)
        << "it waited: its turn had its length";
    EXPECT_EQ(demand.take(1)[0].backlogged, 4 * ms);
}

TEST(Demand, TwoTasksOfATenantWaitOnce) {
    Demand demand;
    demand.add({0, 1, 0, 2 * ms, true}, slice, long_round);
    demand.add({0, 2, 2 * ms, 4 * ms, true}, slice, long_round);
    demand.add({0, 1, 6 * ms, 8 * ms, true}, slice, long_round);
    demand.add({0, 2, 8 * ms, 10 * ms, true}, slice, long_round);
    const auto seen = demand.take(1)[0];
    EXPECT_EQ(seen.used, 8 * ms);
    EXPECT_EQ(seen.backlogged, 10 * ms);
}

TEST(Demand, AddsUpABurstThatTimeslicesCut) {
    Turns turns;
    for (int n = 0; n < 4; n++) {
        turns.add(0, 2100 * us); // cut
        turns.add(1, 2100 * us);
        turns.add(0, 900 * us); // the rest of it
        turns.add(1, 700 * us, SliceLength{200 * us, 500 * us});
    }
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.burst, 3 * ms);
    EXPECT_EQ(seen.bounds.lost.least, 4 * 185 * us);
    // The other task went on until the pause was over, and the end of its turn took 180 us.
    EXPECT_EQ(seen.pause, 700 * us + 168 * us - 180 * us);
}

/// A bound from short turns holds while longer turns show less, until they show a longer pause.
TEST(Demand, KeepsTheShortestBoundOfAPauseUntilALongerPauseIsSeen) {
    constexpr SliceLength shortest{28 * us, 330 * us}, short_slice{190 * us, 500 * us};
    Turns turns;
    const auto epoch = [&](Ns other, const SliceLength &of) {
        for (int n = 0; n < 20; n++) {
            turns.add(0, 300 * us);
            turns.add(1, other, of);
        }
        return turns.demand.take(1)[0].pause;
    };
    EXPECT_EQ(epoch(303 * us, short_slice), 303 * us + 168 * us - 180 * us);
    EXPECT_EQ(epoch(133 * us, shortest), 133 * us + 168 * us - 180 * us);
    for (std::size_t n = 1; n < Demand::kept_bounds; n++)
        EXPECT_EQ(epoch(303 * us, short_slice), 121 * us) << n;
    EXPECT_EQ(epoch(303 * us, short_slice), 291 * us) << "it was too long ago";
    EXPECT_EQ(epoch(133 * us, shortest), 121 * us);
    EXPECT_GT(epoch(600 * us, short_slice), 500 * us) << "the other went on: the pause was seen";
}

TEST(Demand, TakesLongBurstsForWorkIfAnotherTaskWaitedAtTheirEnds) {
    Turns turns;
    for (int n = 0; n < 4; n++)
        for (const Ns burst : {300 * us, 1700 * us, 100 * us}) {
            turns.add(0, burst);
            turns.add(1, 2100 * us);
        }
    EXPECT_EQ(turns.demand.take(1)[0].stayed, 0);
}

/// Task 0 stays without work until task 1 comes, which has given way before.
TEST(Demand, TakesNoMoreOfATurnForWorkThanTheShortestBurstIfTheOtherTaskMayHaveCome) {
    Turns turns;
    for (int n = 0; n < 4; n++)
        for (const Ns turn : {300 * us, 1300 * us}) {
            turns.add(0, turn);
            turns.add(1, 500 * us);
        }
    EXPECT_GE(turns.demand.take(1)[0].stayed, 3 * ms);
}

/// A burst at whose end another task waited was work, so that later ones of this length may be, too.
TEST(Demand, TakesAsMuchForWorkAsTheLongestBurstAtWhoseEndAnotherTaskWaited) {
    for (const bool waits : {false, true}) {
        Turns turns;
        turns.add(0, 300 * us);
        turns.add(1, waits ? 2100 * us : 500 * us); // its timeslice ends it, or it gives way
        turns.add(0, 1300 * us);
        turns.add(1, 500 * us);
        turns.demand.take(2);
        for (const Ns burst : {300 * us, 1300 * us}) {
            turns.add(0, burst);
            turns.add(1, 500 * us);
        }
        EXPECT_EQ(turns.demand.take(1)[0].stayed, waits ? 0 : 1000 * us) << waits;
    }
}

/// Task 1 gives way, and was away for twice its shortest pauses and a switch of 300 us.
TEST(Demand, TakesATaskThatIsAwayForLongerThanItsPausesForOneThatWaits) {
    constexpr Ns shortest = 300 * us + 168 * us - 180 * us, longest = 2 * shortest + 300 * us;
    for (const bool has_longer_pauses : {false, true})
        for (const Ns away : {longest, longest + us}) {
            Turns turns;
            const auto epoch = [&](Ns other) {
                for (int n = 0; n < 20; n++) {
                    turns.add(0, other);
                    turns.add(1, 500 * us);
                }
                return turns.demand.take(1)[0].stayed;
            };
            EXPECT_EQ(epoch(300 * us), 0);
            if (has_longer_pauses)
                epoch(600 * us);
            turns.add(0, away - 168 * us);
            turns.add(1, 500 * us);
            EXPECT_EQ(turns.demand.take(1)[0].stayed,
                      away > longest ? 0 : away - 168 * us - (has_longer_pauses ? 600 : 300) * us)
                << away;
        }
}

TEST(Demand, CountsNoBurstOfATurnThatMayHaveEndedInEitherWay) {
    constexpr SliceLength changing{2 * ms, 8 * ms, false};
    Turns turns;
    for (int n = 0; n < 4; n++) {
        for (int before = 0; before < 2; before++) {
            turns.add(0, 900 * us);
            turns.add(1, 2100 * us);
        }
        turns.add(0, 3 * ms, changing);
        turns.add(1, 2100 * us);
    }
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.burst, 900 * us);
    EXPECT_EQ(seen.bounds.lost.least, 0);
}

TEST(Demand, ForgetsTheBurstsOfATaskThatDoesNotPauseAnyMore) {
    Turns turns;
    for (int n = 0; n < 4; n++) {
        turns.add(0, 900 * us);
        turns.add(1, 2100 * us);
    }
    EXPECT_EQ(turns.demand.take(1)[0].burst, 900 * us);
    for (int n = 0; n < 4; n++) {
        turns.add(0, 2100 * us);
        turns.add(1, 2100 * us);
    }
    EXPECT_EQ(turns.demand.take(1)[0].burst, 0);
}

/// Bursts of one length are work to their ends, also where a pause between two of them was not seen, or
/// one of them seems shorter.
TEST(Demand, FindsNoRestInBurstsOfTheUsualLength) {
    const auto rest_with = [](std::span<const Ns> bursts) {
        Turns turns;
        for (const Ns burst : bursts) {
            turns.add(0, burst);
            turns.add(1, 1000 * us, SliceLength{200 * us, 500 * us});
        }
        turns.demand.take(1);
        turns.add(0, 900 * us);
        turns.add(1, 1000 * us, SliceLength{200 * us, 500 * us});
        return turns.demand.take(1)[0].bounds.rested.most;
    };
    const std::vector<Ns> alike(12, 900 * us);
    EXPECT_EQ(rest_with(alike), 0);
    std::vector<Ns> single = alike;
    single[9] = 200 * us;
    single[10] = 1800 * us;
    EXPECT_EQ(rest_with(single), 0);
    std::vector<Ns> different = alike;
    for (std::size_t n = 0; n < 6; n++)
        different[2 * n] = (200 + static_cast<Ns>(n) * 230) * us;
    EXPECT_GT(rest_with(different), 100 * us);
}

/// While nobody else wants the engine, a turn ends with any of its timeslices, and an idle one as soon as
/// another task comes.
TEST(Demand, SeesWorkAtTheEndsOfLaterTimeslices) {
    const auto open_with = [](Ns length, Ns timeslice) {
        const SliceLength of{timeslice - timeslice / 16, timeslice + timeslice / 16 + 300 * us,
                             true, timeslice};
        Turns turns;
        for (int n = 0; n < 8; n++) {
            turns.add(0, length, of);
            turns.add(1, 900 * us);
        }
        return turns.demand.take(1)[0].bounds.open;
    };
    EXPECT_EQ(open_with(3 * 410 * us + 107 * us, 400 * us), 0);
    EXPECT_GT(open_with(3 * 400 * us + 330 * us, 400 * us), 0);
    EXPECT_GT(open_with(3 * 205 * us + 107 * us, 200 * us), 0); // most turns would end so
}

TEST(Demand, KnowsHowMuchOfATurnNobodyElseWanted) {
    Turns turns;
    for (int n = 0; n < 3; n++) {
        turns.add(0, 900 * us);
        turns.add(1, 1000 * us, SliceLength{200 * us, 500 * us});
    }
    turns.demand.take(1);
    turns.add(0, 12'500 * us);
    const auto seen = turns.demand.take(1)[0];
    EXPECT_EQ(seen.alone, 10 * ms);
    EXPECT_EQ(seen.idle_alone(), scaled(10 * ms, seen.pause, seen.burst + seen.pause));
    EXPECT_GT(seen.idle_alone(), 4 * ms);
}

} // namespace
