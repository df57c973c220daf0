// SPDX-License-Identifier: MIT OR GPL-2.0
// LLM engines: requests worked out by hand, and what nvqos does for them beside other jobs.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "engines.hpp"
#include "lib/simulation/governed.hpp"
#include "lib/simulation/machine.hpp"
#include "lib/simulation/result.hpp"

namespace {

using namespace test_jobs;
using simulation::EngineLoad;
using simulation::EngineResult;
using simulation::Governed;
using simulation::Machine;
using simulation::Measures;
using simulation::Result;
using simulation::Scenario;
using simulation::ServedRequest;
using simulation::simulate;

Ns of(const std::optional<Ns> &time) {
    return time.value_or(-1);
}

/// Returns the result of an engine alone whose requests come at even times.
EngineResult even(EngineLoad load, Ns gap) {
    Scenario one = scenario({engine("engine", load, gap, 0)});
    one.warmup = 0;
    return *simulate(one).jobs[0].engine;
}

constexpr EngineLoad by_hand{
    .prefill = 10 * qos::ms, .decode = 5 * qos::ms, .pause = qos::ms, .tokens = 3};

TEST(Engine, HasAFirstTokenAfterThePrefillAndOneMoreInEachStep) {
    const EngineResult result = even(by_hand, 100 * qos::ms);
    EXPECT_EQ(result.to_first.count, 99);
    EXPECT_EQ(of(result.to_first.p50), 11 * qos::ms);
    EXPECT_EQ(of(result.to_first.p99), 11 * qos::ms);
    EXPECT_EQ(of(result.per_token.p99), 6 * qos::ms);
    EXPECT_EQ(result.gaps.count, 2 * 99);
    EXPECT_EQ(result.attained, result.compared);
}

TEST(Engine, MakesTokensOfItsBatchAtOnceAfterThePrefillOfAnother) {
    EngineLoad load = by_hand;
    load.tokens = 29; // 11 ms and 28 steps of 6 ms: 179 ms
    load.decode_each = 0;
    const EngineResult result = even(load, 100 * qos::ms);
    // Two requests are in flight, and each waits for the prefill of the next one or two.
    EXPECT_EQ(of(result.gaps.p50), 6 * qos::ms);
    EXPECT_EQ(of(result.gaps.p99), 17 * qos::ms);
    EXPECT_LE(of(result.per_token.p99), (28 * 6 + 2 * 11) * qos::ms / 28);
}

TEST(Engine, TakesLongerForABatch) {
    EngineLoad load = by_hand;
    load.decode_each = qos::ms;
    EXPECT_EQ(of(even(load, 100 * qos::ms).per_token.p50), 7 * qos::ms);
}

TEST(Engine, LetsRequestsWaitForRoomInItsBatch) {
    EngineLoad load = by_hand;
    load.batch = 1; // 23 ms for each request
    EXPECT_EQ(of(even(load, 25 * qos::ms).to_first.p99), 11 * qos::ms);
    EXPECT_GT(of(even(load, 20 * qos::ms).to_first.p50), 100 * qos::ms);
    load.batch = 2;
    EXPECT_LT(of(even(load, 20 * qos::ms).to_first.p99), 20 * qos::ms);
}

TEST(Engine, OfOneTokenHasNoTimePerToken) {
    EngineLoad load = by_hand;
    load.tokens = 1;
    const EngineResult result = even(load, 100 * qos::ms);
    EXPECT_EQ(result.per_token.count, 0);
    EXPECT_EQ(result.gaps.count, 0);
    EXPECT_EQ(result.attained, result.compared);
}

TEST(RandomValues, HaveTheirMeanAndVariation) {
    for (const qos::Part variation : {0, 200'000, 500'000, 1'000'000, 2'000'000, 4'000'000}) {
        simulation::Random random(5, "values", simulation::Random::Purpose::lengths);
        constexpr int count = 400'000;
        double sum = 0, squares = 0;
        for (int n = 0; n < count; n++) {
            const auto value = static_cast<double>(random.varied(1'000'000, variation)) / 1e6;
            sum += value;
            squares += value * value;
        }
        const double mean = sum / count,
                     seen = std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
        EXPECT_NEAR(mean, 1, 0.03) << variation;
        EXPECT_NEAR(seen, static_cast<double>(variation) / 1e6,
                    0.03 * static_cast<double>(variation) / 1e6 + 0.001);
    }
}

// --- an engine beside a training ---

struct Load {
    const char *name;
    Ns gap;
    qos::Part variation;
};

void PrintTo(const Load &load, std::ostream *out) {
    *out << load.name;
}

class EngineBesideATraining : public testing::TestWithParam<Load> {
  protected:
    [[nodiscard]] static Scenario both(const EngineLoad &load = load_of_8b()) {
        Scenario made = scenario(
            {engine("engine", load, GetParam().gap, GetParam().variation, served_first), tuning()});
        made.duration = 303 * qos::second;
        made.jobs[0].cpu_jitter = 2 * qos::point;
        return made;
    }
};

double ratio(const std::optional<Ns> &time, const std::optional<Ns> &alone) {
    return static_cast<double>(of(time)) / static_cast<double>(of(alone));
}

TEST_P(EngineBesideATraining, IsHardlySlowerThanAlone) {
    const Result result = simulate(both());
    const EngineResult &one = *result.jobs[0].engine;
    EXPECT_LT(ratio(one.to_first.p50, one.alone_to_first.p50), 1.05);
    EXPECT_LT(ratio(one.per_token.p50, one.alone_per_token.p50), 1.02);
    EXPECT_LT(ratio(one.per_token.p99, one.alone_per_token.p99), 1.04);
    EXPECT_GT(100 * one.attained, 99 * one.compared);
}

TEST_P(EngineBesideATraining, LeavesItTheTimeBetweenPeriods) {
    EXPECT_GT(simulate(both()).jobs[1].got_while_free, 95 * qos::point);
}

/// Probes are rarer, so that steps wait less often, and nothing is lost at the ends of periods.
TEST_P(EngineBesideATraining, IsServedStillBetterWithMarks) {
    EngineLoad load = load_of_8b();
    const Result before = simulate(both(load));
    load.marks = true;
    const Result result = simulate(both(load));
    const EngineResult &one = *result.jobs[0].engine;
    EXPECT_LT(ratio(one.per_token.p50, one.alone_per_token.p50), 1.004);
    EXPECT_GE(100 * one.attained, 99 * one.compared);
    EXPECT_GE(result.jobs[1].got_while_free, before.jobs[1].got_while_free);
}

INSTANTIATE_TEST_SUITE_P(Loads, EngineBesideATraining,
                         testing::Values(Load{"20", 4500 * qos::ms, qos::whole},
                                         Load{"40", 1900 * qos::ms, qos::whole},
                                         Load{"60", 1050 * qos::ms, qos::whole},
                                         Load{"20InBursts", 4500 * qos::ms, 4 * qos::whole},
                                         Load{"40InBursts", 1900 * qos::ms, 4 * qos::whole},
                                         Load{"60InBursts", 1050 * qos::ms, 4 * qos::whole}),
                         [](const auto &row) { return row.param.name; });

/// A service with a cap has no periods, and its marks change nothing.
TEST(EngineWithACap, IsServedAsWithoutMarks) {
    qos::Goal capped = served_first;
    capped.cap = 90 * qos::point;
    EngineLoad load = load_of_8b();
    const auto run = [&] {
        return simulate(
            scenario({engine("engine", load, 1000 * qos::ms, qos::whole, capped), tuning()}));
    };
    const Result before = run();
    load.marks = true;
    const Result result = run();
    EXPECT_NEAR(static_cast<double>(result.jobs[1].got), static_cast<double>(before.jobs[1].got),
                static_cast<double>(qos::point));
    EXPECT_GT(before.jobs[0].engine->compared, 3);
    EXPECT_EQ(result.jobs[0].engine->compared, before.jobs[0].engine->compared);
}

/// Each engine has its share of the time in which it has requests, whatever the other engine does.
TEST(TwoEngines, HaveTheirShares) {
    for (const Ns gap : {3600, 1600, 900, 500}) {
        Scenario both =
            scenario({engine("a", load_of_8b(), gap * qos::ms, qos::whole, share_of(50)),
                      engine("b", load_of_8b(), gap * qos::ms, qos::whole, share_of(49))});
        both.duration = 203 * qos::second;
        const Result result = simulate(both);
        for (const simulation::JobResult &job : result.jobs) {
            EXPECT_EQ(job.kept, true) << job.name << " " << gap;
            EXPECT_EQ(job.seconds, 0U);
        }
        // Without goals, timeslices of 2 ms cut the turns of both engines.
        both.has_control = false;
        const Result before = simulate(both);
        for (std::size_t n = 0; n < 2; n++)
            EXPECT_LT(of(result.jobs[n].engine->per_token.p99),
                      of(before.jobs[n].engine->per_token.p99));
    }
}

// --- any sizes ---

class EnginesAtRandom : public testing::TestWithParam<std::uint64_t> {
  protected:
    [[nodiscard]] static Measures with_goals(const Scenario &scenario) {
        Governed control(scenario);
        return Machine(scenario, &control).run();
    }
};

/// Compares the requests that ended both with and without the goals. A request that ended with them
/// alone is a slow one.
TEST_P(EnginesAtRandom, AreServedBetterThanAsItIs) {
    const Scenario scenario = random_engine(GetParam());
    const Measures with = with_goals(scenario), without = Machine(scenario, nullptr).run();
    const auto &all = with.jobs[0].requests, &before = without.jobs[0].requests;
    EXPECT_GE(all.size() + 2, before.size());
    Ns first = 0, first_before = 0, last = 0, last_before = 0;
    for (const ServedRequest &one : all) {
        const auto same = std::ranges::find(before, one.number, &ServedRequest::number);
        if (same == before.end())
            continue;
        first += one.to_first();
        first_before += same->to_first();
        last += one.last - one.arrived;
        last_before += same->last - same->arrived;
    }
    EXPECT_LE(first, first_before + first_before / 100);
    EXPECT_LE(last, last_before + last_before / 100);
}

/// After a period each neighbour waits for the next probe and for a request to the driver. There
/// are no more periods than requests of the engine.
TEST_P(EnginesAtRandom, LeaveTheOthersTheTimeWithoutRequests) {
    const Scenario scenario = random_engine(GetParam());
    const Measures seen = with_goals(scenario);
    Ns used = 0, alone = 0;
    for (std::size_t n = 1; n < scenario.jobs.size(); n++) {
        used += seen.jobs[n].used_while_free;
        Scenario one = scenario;
        one.jobs = {scenario.jobs[n]};
        alone = std::max(alone, Machine(one, nullptr).run().jobs[0].ranks[0].used());
    }
    const auto others = static_cast<Ns>(scenario.jobs.size() - 1);
    const Ns free = seen.jobs[1].free, wait = qos::Periods::probe_every + others * 3 * qos::ms,
             periods = std::min<Ns>(seen.jobs[0].passes, free / qos::Periods::longest_pause);
    // Several others take turns in short rounds beside a service.
    const Ns least = qos::scaled(alone, free, seen.length()) * (others > 1 ? 75 : 97) / 100;
    EXPECT_GE(used, least - periods * wait);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EnginesAtRandom, testing::Range<std::uint64_t>(1, 61));

} // namespace
