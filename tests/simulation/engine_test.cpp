// SPDX-License-Identifier: MIT OR GPL-2.0
// LLM engines: requests worked out by hand, and what nvqos does for them beside other jobs.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <numeric>

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
EngineResult even(EngineLoad load, Ns gap, std::size_t gpus = 1) {
    Scenario one = scenario({engine("engine", load, gap, 0)}, gpus);
    if (gpus > 1)
        one.jobs = {on_all_gpus(one.jobs[0], gpus)};
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

/// All ranks take the steps of the first one together.
TEST(Engine, TakesAsLongOnSeveralGpus) {
    for (const std::size_t gpus : {1, 2, 8}) {
        const EngineResult result = even(by_hand, 100 * qos::ms, gpus);
        EXPECT_EQ(result.to_first.count, 99) << gpus;
        EXPECT_EQ(of(result.to_first.p99), 11 * qos::ms) << gpus;
        EXPECT_EQ(of(result.per_token.p99), 6 * qos::ms) << gpus;
        EXPECT_EQ(result.alone_got_of_serving, qos::scaled(20, qos::whole, 23)) << gpus;
    }
}

TEST(Engine, WaitsForAllRanks) {
    Scenario one = scenario({on_all_gpus(engine("engine", by_hand, 100 * qos::ms, 0), 2)}, 2);
    one.kills = {{.at = 5 * qos::second, .job = 0, .rank = 1}};
    const Result result = simulate(one);
    EXPECT_NEAR(static_cast<double>(result.jobs[0].engine->to_first.count), 20, 1)
        << "requests of the two seconds before the end of a rank";
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

/// Returns the mean of the longest hundredth of the times per token. The 99th percentile alone would
/// jump: a request of a few tokens has a prefill of another one more or less in its time.
double tail_per_token(const std::vector<ServedRequest> &requests) {
    std::vector<Ns> times;
    for (const ServedRequest &one : requests)
        if (one.tokens > 1)
            times.push_back(one.per_token());
    std::ranges::sort(times, std::ranges::greater());
    times.resize(times.size() / 100);
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

TEST(EngineAtAHighLoad, IsHardlySlowerThanAlone) {
    for (const qos::Part variation : {qos::whole, 4 * qos::whole}) {
        std::vector<ServedRequest> with, alone;
        for (std::uint64_t seed = 1; seed <= 16; seed++) {
            Scenario both = scenario(
                {engine("engine", load_of_8b(), 500 * qos::ms, variation, served_first), tuning()});
            both.duration = 303 * qos::second;
            both.seed = seed;
            Governed control(both);
            const auto beside = Machine(both, &control).run();
            std::ranges::copy(beside.jobs[0].requests, std::back_inserter(with));
            both.jobs.pop_back();
            const auto first = Machine(both, nullptr).run();
            std::ranges::copy(first.jobs[0].requests, std::back_inserter(alone));
        }
        ASSERT_GT(alone.size(), 8000U);
        EXPECT_LT(tail_per_token(with), 1.06 * tail_per_token(alone)) << variation;
    }
}

/// The requests of the H200's measurement (docs/llm.md): 80 ms each, and steps with several pauses of
/// the GPU, so that a period begins within the first of them. The neighbour always has work.
class EngineOfShortRequests : public testing::TestWithParam<Ns> {
  protected:
    /// Returns the mean time that the neighbour loses for each period. Requests come at random, so that
    /// the time without them is cut into parts of the mean gap.
    static Ns lost(bool marks) {
        const EngineLoad load{.prefill = 5 * qos::ms,
                              .decode = 3200 * qos::us,
                              .pause = 200 * qos::us,
                              .tokens = 23,
                              .tokens_variation = 20 * qos::point,
                              .batch = 48,
                              .marks = marks};
        Scenario both = scenario({engine("engine", load, GetParam(), qos::whole, served_first),
                                  job("tuning", {0}, simulation::Program(10, kernel(4740)))});
        both.duration = 123 * qos::second;
        return GetParam() -
               qos::scaled(GetParam(), simulate(both).jobs[1].got_while_free.value(), qos::whole);
    }
};

/// On the H200 it was 8 to 10 ms: half of the time between two probes, and a request to the driver,
/// less what it gains when a period begins.
TEST_P(EngineOfShortRequests, CostsItsNeighbourAsMuchAsOnTheH200) {
    EXPECT_NEAR(static_cast<double>(lost(false)), 9e6, 2e6);
}

TEST_P(EngineOfShortRequests, CostsItsNeighbourARequestToTheDriverWithMarks) {
    EXPECT_LT(lost(true), qos::Costs{}.pause + qos::ms / 2);
}

INSTANTIATE_TEST_SUITE_P(Loads, EngineOfShortRequests,
                         testing::Values(121 * qos::ms, 67 * qos::ms, 36 * qos::ms));

/// A share costs an engine that always has requests its part of each second at least. Turns between
/// steps cost the least, as the processor works there in any case (docs/qos.md).
TEST(EngineWithAShareBesideIt, IsNearlyAsFastAsTheShareAllows) {
    for (const int percent : {10, 20, 30}) {
        const Scenario both =
            scenario({job("engine", {0}, {think(500), kernel(7200)}, served_first),
                      tuning(share_of(percent))});
        const Result result = simulate(both);
        const double least = (7200 + 2 * 80) / (1 - percent / 100.0), // of a step, in us
            seen = 1e12 / static_cast<double>(result.jobs[0].per_s);
        EXPECT_LT(seen, 1.03 * least) << percent;
        EXPECT_GT(result.jobs[1].got, percent * qos::point - qos::point) << percent;
    }
}

/// Neighbours of an engine on two GPUs.
struct Neighbours {
    const char *name;
    std::vector<std::vector<std::size_t>> gpus; ///< by neighbour
};

void PrintTo(const Neighbours &neighbours, std::ostream *out) {
    *out << neighbours.name;
}

class EngineOnTwoGpus : public testing::TestWithParam<Neighbours> {
  protected:
    [[nodiscard]] static Scenario beside(const EngineLoad &load = load_of_8b()) {
        Scenario made = scenario(
            {on_all_gpus(engine("engine", load, 1590 * qos::ms, qos::whole, served_first), 2)}, 2);
        for (std::size_t n = 0; n < GetParam().gpus.size(); n++) {
            simulation::Job one = tuning();
            one.name += std::to_string(n);
            one.gpus = GetParam().gpus[n];
            one.of_rank.assign(one.ranks(), 0);
            if (one.ranks() > 1)
                one.programs[0].push_back(collective(4000, 2));
            made.jobs.push_back(one);
        }
        made.duration = 303 * qos::second;
        made.jobs[0].cpu_jitter = 2 * qos::point;
        return made;
    }
};

TEST_P(EngineOnTwoGpus, IsHardlySlowerThanAlone) {
    for (const bool marks : {false, true}) {
        EngineLoad load = load_of_8b();
        load.marks = marks;
        const Result result = simulate(beside(load));
        const EngineResult &one = *result.jobs[0].engine;
        EXPECT_LT(ratio(one.to_first.p50, one.alone_to_first.p50), 1.05) << marks;
        EXPECT_LT(ratio(one.per_token.p50, one.alone_per_token.p50), marks ? 1.004 : 1.025);
        EXPECT_LT(ratio(one.per_token.p99, one.alone_per_token.p99), 1.04) << marks;
        EXPECT_GT(100 * one.attained, 99 * one.compared) << marks;
        EXPECT_FALSE(result.jobs[0].gang) << "one window for all would be no better";
        for (std::size_t n = 1; n < result.jobs.size(); n++)
            EXPECT_GT(result.jobs[n].got_while_free, 95 * qos::point) << n;
    }
}

INSTANTIATE_TEST_SUITE_P(Beside, EngineOnTwoGpus,
                         testing::Values(Neighbours{"OneTraining", {{0}}},
                                         Neighbours{"OneOnTheOtherGpu", {{1}}},
                                         Neighbours{"TwoTrainings", {{0}, {1}}},
                                         Neighbours{"AGang", {{0, 1}}}),
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
