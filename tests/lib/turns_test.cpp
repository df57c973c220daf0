// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds turns from switches and from samples, and sums them.
#include "nvdebug/turns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace nvdebug;

constexpr bool starts = true, ends = false;

Holder process(std::uint32_t pid) {
    return {.pid = pid, .context = pid + 100};
}

ContextSwitch at(std::uint64_t ns, bool how, std::uint32_t pid) {
    return {ns, how, pid + 100, pid};
}

std::vector<Turn> turns_of(SwitchTurns found, const std::vector<ContextSwitch> &switches,
                           std::uint64_t end_ns) {
    std::vector<Turn> turns;
    for (const ContextSwitch &one : switches)
        found.add(one, turns);
    found.end(end_ns, turns);
    return turns;
}

TEST(SwitchTurns, AreFromStartToEnd) {
    const auto turns =
        turns_of(SwitchTurns(50),
                 {at(100, ends, 7), at(150, starts, 8), at(350, ends, 8), at(400, starts, 7)}, 500);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(7), 50, 100, false, std::nullopt},
                                        {process(8), 150, 350, true, 50},
                                        {process(7), 400, 500, false, 50}}));
}

TEST(SwitchTurns, DoNotInventABeginning) {
    const auto turns =
        turns_of(SwitchTurns(std::nullopt), {at(100, ends, 7), at(150, starts, 8)}, 200);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(8), 150, 200, false, std::nullopt}}));
}

TEST(SwitchTurns, EndBySomebodyElse) {
    // The end of process 1 is missing. It had the engine at most until process 2 came.
    const auto turns =
        turns_of(SwitchTurns(0), {at(10, starts, 1), at(20, starts, 2), at(30, ends, 3)}, 40);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(1), 10, 20, false, std::nullopt},
                                        {process(2), 20, 30, false, 0}}));
}

TEST(SwitchTurns, AreCutWhereSwitchesWereLost) {
    SwitchTurns found(0);
    std::vector<Turn> turns;
    found.add(at(10, starts, 1), turns);
    found.add(at(20, ends, 1), turns);
    found.add(at(25, starts, 2), turns);
    found.lose(turns);
    // The beginning of this turn was lost.
    found.add(at(900, ends, 3), turns);
    found.add(at(910, starts, 1), turns);
    found.add(at(950, ends, 1), turns);
    found.end(1000, turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(1), 10, 20, true, std::nullopt},
                                        {process(2), 25, 25, false, 5},
                                        {process(1), 910, 950, true, std::nullopt}}));
}

TEST(SwitchTurns, CanBeToldBeforeTheyEnd) {
    SwitchTurns found(0);
    std::vector<Turn> turns;
    found.split(5, turns);
    found.add(at(10, starts, 1), turns);
    found.split(10, turns);
    EXPECT_TRUE(turns.empty());
    found.split(30, turns);
    found.add(at(50, ends, 1), turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(1), 10, 30, false, std::nullopt},
                                        {process(1), 30, 50, false, std::nullopt}}))
        << "to go on is no switch";
}

/// The GPU records an end some time later, so a read at 30 does not have the end at 28 yet.
TEST(SwitchTurns, MayHaveEndedBeforeASplit) {
    SwitchTurns found(0);
    std::vector<Turn> turns;
    found.add(at(10, starts, 1), turns);
    found.split(30, turns);
    turns.clear();
    found.add(at(28, ends, 1), turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(1), 30, 30, false, std::nullopt}}));
    turns.clear();
    found.add(at(32, starts, 2), turns);
    found.add(at(40, ends, 2), turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(2), 32, 40, true, 2}}));
}

TEST(SwitchTurns, AreCutOffBeforeTheBeginning) {
    const auto turns = turns_of(SwitchTurns(100),
                                {at(10, starts, 1), at(50, ends, 1), at(60, starts, 2),
                                 at(150, ends, 2), at(160, starts, 1), at(200, ends, 1)},
                                200);
    EXPECT_EQ(turns, (std::vector<Turn>{{process(2), 100, 150, false, std::nullopt},
                                        {process(1), 160, 200, true, 10}}));
    EXPECT_EQ(turns_of(SwitchTurns(100), {at(10, starts, 1), at(50, ends, 1)}, 100),
              std::vector<Turn>{});
}

TEST(SwitchTurns, HaveNoGapFromBeforeASplit) {
    SwitchTurns found(0);
    std::vector<Turn> turns;
    found.add(at(10, starts, 1), turns);
    found.add(at(20, ends, 1), turns);
    found.split(100, turns);
    found.add(at(130, starts, 2), turns);
    found.add(at(140, ends, 2), turns);
    ASSERT_EQ(turns.size(), 2U);
    EXPECT_EQ(turns[1].gap_ns, 30U);
}

TEST(SwitchTurns, StayInOrderForAnyInput) {
    std::minstd_rand random(1); // NOLINT: the same each time
    const auto any = [&](std::uint32_t of) { return static_cast<std::uint32_t>(random() % of); };
    for (int round = 0; round < 200; round++) {
        SwitchTurns found(0);
        std::vector<Turn> turns;
        for (int n = 0; n < 100; n++) {
            found.add({any(1000), any(2) == 0, any(3), any(3)}, turns);
            if (any(20) == 0)
                found.lose(turns);
        }
        found.end(any(1000), turns);
        for (const Turn &turn : turns) {
            EXPECT_LE(turn.begin_ns, turn.end_ns);
            EXPECT_LE(turn.gap_ns.value_or(0), turn.begin_ns);
        }
    }
}

Holder tsg(std::uint32_t id) {
    return {.runlist = 0, .tsg = id};
}

TEST(SampleTurns, EndHalfWayBetweenSamples) {
    SampleTurns found(1000);
    std::vector<Turn> turns;
    found.add(0, tsg(1), turns);
    found.add(100, tsg(1), turns);
    found.add(200, tsg(2), turns);
    found.add(300, std::nullopt, turns);
    found.add(400, tsg(1), turns);
    found.end(turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{tsg(1), 0, 150, false, std::nullopt},
                                        {tsg(2), 150, 250, true, std::nullopt},
                                        {tsg(1), 350, 400, false, std::nullopt}}));
    EXPECT_EQ(found.known_ns(), 400U);
}

TEST(SampleTurns, AreCutWhereSamplesAreMissing) {
    SampleTurns found(150);
    std::vector<Turn> turns;
    found.add(0, tsg(1), turns);
    found.add(100, tsg(1), turns);
    found.add(500, tsg(1), turns);
    found.add(600, tsg(2), turns);
    found.end(turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{tsg(1), 0, 100, false, std::nullopt},
                                        {tsg(1), 500, 550, false, std::nullopt},
                                        {tsg(2), 550, 600, false, std::nullopt}}));
    EXPECT_EQ(found.known_ns(), 200U) << "what was between 100 and 500 is not known";
    found.add(10, tsg(1), turns);
    EXPECT_EQ(turns.size(), 3U) << "a clock that goes back";
}

TEST(SampleTurns, CanBeToldBeforeTheyEnd) {
    SampleTurns found(150);
    std::vector<Turn> turns;
    found.split(turns);
    found.add(0, tsg(1), turns);
    found.add(100, tsg(1), turns);
    found.split(turns);
    found.add(200, tsg(1), turns);
    found.end(turns);
    EXPECT_EQ(turns, (std::vector<Turn>{{tsg(1), 0, 100, false, std::nullopt},
                                        {tsg(1), 100, 200, false, std::nullopt}}));
}

/// Two samples a turn show the turn, and twenty a turn give shares within 1 % (docs/nvdebugctl.md).
TEST(SampleTurns, SeeWhatLastsTwoPeriodsAndGiveShares) {
    std::mt19937_64 random(2); // NOLINT: the same each time
    const std::uint64_t period = 100;
    SampleTurns found(4 * period);
    std::vector<Turn> turns;
    std::uint64_t ns = 0, sample = random() % period;
    std::map<std::uint32_t, double> truth;
    std::uint32_t count = 0;
    for (; count < 3000; count++) {
        const std::uint32_t who = count % 3 + 1;
        // A turn lasts 2 to 38 periods, 20 on average.
        const std::uint64_t length = 2 * period + random() % (36 * period);
        truth[who] += static_cast<double>(length);
        for (ns += length; sample < ns; sample += period)
            found.add(sample, tsg(who), turns);
    }
    found.end(turns);
    EXPECT_EQ(turns.size(), count) << "none was missed, and none made up";
    Tally tally;
    for (const Turn &turn : turns)
        tally.add(turn);
    for (const auto &[who, length] : truth) {
        const double share = length / static_cast<double>(ns);
        EXPECT_NEAR(static_cast<double>(tally.holders().at(tsg(who)).ns) /
                        static_cast<double>(tally.held_ns()),
                    share, 0.01);
    }
}

TEST(Lengths, AreWithinHalfAPercent) {
    std::mt19937_64 random(3); // NOLINT: the same each time
    Lengths lengths;
    EXPECT_EQ(lengths.quantile(0.5), 0U);
    EXPECT_EQ(lengths.min(), 0U);
    std::vector<std::uint64_t> all;
    for (int n = 0; n < 10'000; n++)
        all.push_back(
            static_cast<std::uint64_t>(std::exp2(std::uniform_real_distribution<>(0, 40)(random))));
    for (const std::uint64_t one : all)
        lengths.add(one);
    std::ranges::sort(all);
    EXPECT_EQ(lengths.count(), all.size());
    EXPECT_EQ(lengths.min(), all.front());
    EXPECT_EQ(lengths.max(), all.back());
    for (const double part : {0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
        const auto exact =
            static_cast<double>(all[static_cast<std::size_t>(std::ceil(part * 10'000)) - 1]);
        EXPECT_NEAR(static_cast<double>(lengths.quantile(part)), exact, exact * 0.004 + 0.5)
            << part;
    }
    Lengths longest;
    longest.add(~std::uint64_t{0});
    EXPECT_EQ(longest.quantile(0.5), ~std::uint64_t{0});
}

Turn of_length(std::uint64_t begin_ns, std::uint64_t ns, bool whole = true) {
    return {process(1), begin_ns, begin_ns + ns, whole, std::nullopt};
}

// 2,097,152 ns is CUDA's timeslice. The lengths were measured on an H100.
TEST(Saving, IsWhatComesAfterTheLastTimeslice) {
    constexpr std::uint64_t timeslice = 2'097'152, us = 1000;
    EXPECT_EQ(saving_ns(of_length(5, timeslice + 107 * us), timeslice), 107 * us);
    EXPECT_EQ(saving_ns(of_length(5, 4 * timeslice + 105 * us), timeslice), 105 * us)
        << "nobody else wanted it";
    EXPECT_EQ(saving_ns(of_length(5, timeslice - 1), timeslice), 0U) << "it gave it up";
    EXPECT_EQ(saving_ns(of_length(5, timeslice + timeslice / 2), timeslice), 0U);
    EXPECT_EQ(saving_ns(of_length(5, timeslice + 300 * us), timeslice), 300 * us);
    EXPECT_EQ(saving_ns(of_length(5, timeslice + 300 * us + 1), timeslice), 0U);
    EXPECT_EQ(saving_ns(of_length(5, timeslice + 107 * us, false), timeslice), 0U)
        << "when it began is not known";
    EXPECT_EQ(saving_ns(of_length(5, 107 * us), 0), 0U);
}

TEST(Tally, SumsSavings) {
    Tally tally;
    tally.add(of_length(0, 1'100), 1'000);
    tally.add(of_length(2'000, 1'100));
    tally.add(of_length(4'000, 500), 1'000);
    const Tally::Held &held = tally.holders().begin()->second;
    EXPECT_EQ(held.ns, 2'700U);
    EXPECT_EQ(held.saving_ns, 100U);
    EXPECT_EQ(tally.savings().count(), 1U);
    EXPECT_EQ(tally.savings().sum(), 100U);
}

TEST(Tally, TellsSwitchesFromIdling) {
    Tally tally;
    const Holder other{.pid = 7, .context = 3}; // another context of the same process
    tally.add({process(7), 0, 100, false, std::nullopt});
    tally.add({process(8), 150, 350, true, 50});
    tally.add({other, 400, 600, true, 50});
    tally.add({process(7), 2'000'600, 2'000'700, true, 2'000'000});
    ASSERT_EQ(tally.holders().size(), 2U);
    const Tally::Held &seven = tally.holders().at({.pid = 7});
    EXPECT_EQ(seven.turns, 3U);
    EXPECT_EQ(seven.ns, 400U);
    EXPECT_EQ(seven.lengths.count(), 2U) << "a turn that was cut has no length";
    EXPECT_EQ(seven.away.count(), 2U);
    EXPECT_EQ(seven.away.min(), 300U);
    EXPECT_EQ(tally.switches().count(), 2U);
    EXPECT_EQ(tally.switches().sum(), 100U);
    EXPECT_EQ(tally.nobody_ns(), 2'000'000U);
    EXPECT_EQ(tally.held_ns(), 600U);
    tally.lose();
    tally.add({process(8), 3'000'000, 3'000'100, true, std::nullopt});
    EXPECT_EQ(tally.holders().at({.pid = 8}).away.count(), 0U);
}

} // namespace
