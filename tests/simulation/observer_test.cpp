// SPDX-License-Identifier: MIT OR GPL-2.0
// What a machine shows while it runs, worked out by hand.
#include "jobs.hpp"
#include "lib/simulation/governed.hpp"
#include "lib/simulation/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using simulation::RankPlace;

struct Shown {
    std::size_t job;
    qos::Ns begin, end;
    bool whole;
    bool operator==(const Shown &) const = default;
};

void PrintTo(const Shown &one, std::ostream *out) {
    *out << one.job << ": " << one.begin << " to " << one.end << (one.whole ? "" : ", cut");
}

struct Shows : simulation::Observer {
    void turn(const RankPlace &where, qos::Ns begin, qos::Ns end, bool whole) override {
        turns.push_back({where.job, begin, end, whole});
    }
    void wait(const RankPlace &where, qos::Ns begin, qos::Ns end, bool whole) override {
        waits.push_back({where.job, begin, end, whole});
    }
    void served(const RankPlace &, const simulation::Request &, qos::Ns) override { requests++; }
    std::vector<Shown> turns, waits;
    int requests = 0;
};

/// Returns two jobs that always have work, from 0 and from about 1 ms on.
simulation::Scenario two_busy_jobs() {
    simulation::Scenario scenario =
        test_jobs::scenario({test_jobs::job("a", {0}, {test_jobs::kernel(1'000'000)}),
                             test_jobs::job("b", {0}, {test_jobs::kernel(1'000'000)})});
    scenario.jobs[1].timeslice_us = 1000;
    scenario.jobs[1].start = 4 * qos::ms; // later than the first one's start and below its slices
    scenario.warmup = 0;
    scenario.duration = 20 * qos::ms;
    return scenario;
}

TEST(Observed, TurnsHaveTheTimeslicesOfTheirJobs) {
    const simulation::Scenario scenario = two_busy_jobs();
    Shows shows;
    simulation::Machine(scenario, nullptr, &shows).run();
    ASSERT_GE(shows.turns.size(), 4U);
    constexpr qos::Ns late = 123 * qos::us, switching = 80 * qos::us;
    for (std::size_t n = 1; n + 1 < shows.turns.size(); n++) {
        const Shown &turn = shows.turns[n];
        EXPECT_EQ(turn.end - turn.begin, (turn.job ? 1'024'000 : 2'048'000) + late);
        EXPECT_EQ(turn.begin, shows.turns[n - 1].end + switching);
        EXPECT_TRUE(turn.whole);
    }
    EXPECT_EQ(shows.turns.back().end, scenario.duration);
    EXPECT_FALSE(shows.turns.back().whole);
}

TEST(Observed, WaitsAreFromTheEndOfATurnToTheNext) {
    const simulation::Scenario scenario = two_busy_jobs();
    Shows shows;
    simulation::Machine(scenario, nullptr, &shows).run();
    std::vector<Shown> of_a;
    for (const Shown &wait : shows.waits)
        if (wait.job == 0 && wait.end > wait.begin)
            of_a.push_back(wait);
    std::vector<Shown> expected;
    std::optional<qos::Ns> last_end;
    for (const Shown &turn : shows.turns)
        if (turn.job == 0) {
            if (last_end)
                expected.push_back({0, *last_end, turn.begin, true});
            last_end = turn.end;
        }
    if (shows.turns.back().job == 1)
        expected.push_back({0, *last_end, scenario.duration, false});
    EXPECT_EQ(of_a, expected);
    // The job without the GPU waits when the run ends.
    EXPECT_EQ(std::ranges::count(shows.waits, false, &Shown::whole), 1);
    EXPECT_EQ(std::ranges::find(shows.waits, false, &Shown::whole)->job,
              1 - shows.turns.back().job);
}

TEST(Observed, KilledJobWaitsNoLonger) {
    simulation::Scenario scenario = two_busy_jobs();
    for (qos::Ns at = 8 * qos::ms; at < 16 * qos::ms; at += qos::ms) {
        scenario.kills = {{.at = at, .job = 0, .rank = 0}};
        Shows shows;
        simulation::Machine(scenario, nullptr, &shows).run();
        for (const Shown &wait : shows.waits)
            EXPECT_TRUE(wait.job == 1 || wait.end <= at) << at;
    }
}

TEST(Observed, TurnsAreWholeAlthoughAGovernorReadsParts) {
    simulation::Scenario scenario = two_busy_jobs();
    scenario.duration = 2 * qos::second;
    scenario.jobs[0].goal = {.aim = qos::Aim::share, .part = 60 * qos::point};
    simulation::Governed governed(scenario);
    Shows shows;
    simulation::Machine(scenario, &governed, &shows).run();
    EXPECT_GT(shows.requests, 0);
    // Both jobs always have work, so a turn begins soon after the previous one.
    for (std::size_t n = 1; n < shows.turns.size(); n++) {
        EXPECT_GE(shows.turns[n].begin, shows.turns[n - 1].end + 80 * qos::us);
        EXPECT_LT(shows.turns[n].begin, shows.turns[n - 1].end + qos::ms);
    }
}

} // namespace
