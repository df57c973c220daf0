// SPDX-License-Identifier: MIT OR GPL-2.0
// Windows for gangs on simulated GPUs, beside the same jobs as they are. Speeds are parts of the
// speed alone, and their sum is what the GPUs do in all.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "lib/simulation/governed.hpp"
#include "lib/simulation/machine.hpp"
#include "random_gangs.hpp"
#include "trainings.hpp"

namespace {

using namespace test_jobs;
using simulation::JobResult;
using simulation::Program;
using simulation::Result;
using simulation::Scenario;
using simulation::simulate;

simulation::Job decode_loop(const std::string &name, const GpuSet &gpus) {
    Program program;
    repeat(program, 32, {kernel(30), collective(20, ring_of(gpus))});
    program.push_back(think(50));
    return job(name, gpus, program);
}

/// Requests of 13 ms, with a load of a third.
simulation::Job answers(const std::string &name, const GpuSet &gpus) {
    Program program;
    repeat(program, 8, {kernel(1300), collective(300, ring_of(gpus)), think(50)});
    simulation::Job made = job(name, gpus, program, {.aim = qos::Aim::latency});
    made.mean_gap = 40 * qos::ms;
    return made;
}

Scenario on_gpus(const std::vector<simulation::Job> &jobs, std::size_t gpus) {
    Scenario made = scenario(jobs, gpus);
    made.gpus.kernel_jitter = 3 * qos::point;
    return made;
}

Result as_it_is(Scenario one) {
    one.has_control = false;
    return simulate(one);
}

double least_of(const JobResult &job) {
    return number(std::ranges::min_element(job.gpus, {}, &JobResult::OnGpu::got)->got);
}

double together_of(const JobResult &job) {
    return number(job.together.value_or(0));
}

/// A step of a training with a batch of 64 more or less in seven seconds.
constexpr double a_step = 0.028;

class GangsOnGpus : public testing::TestWithParam<std::size_t> {};

TEST_P(GangsOnGpus, TwoTrainingsLoseLittle) {
    const GpuSet gpus = first_gpus(GetParam());
    const Scenario both = on_gpus({training_of("a", gpus), training_of("b", gpus)}, gpus.size());
    const Result result = simulate(both);
    EXPECT_GE(sum_of(result), 0.97);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(both)));
    for (const JobResult &one : result.jobs) {
        EXPECT_TRUE(one.gang);
        EXPECT_EQ(one.kept, true);
        EXPECT_GT(together_of(one), 0.85);
        EXPECT_NEAR(least_of(one), 0.5, 0.01);
    }
}

TEST_P(GangsOnGpus, TrainingsUseTheGapsOfEachOther) {
    const GpuSet gpus = first_gpus(GetParam());
    const Scenario both =
        on_gpus({small_training("a", gpus), small_training("b", gpus)}, gpus.size());
    const Result result = simulate(both);
    EXPECT_GE(sum_of(result), 1.05);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(both)));
}

INSTANTIATE_TEST_SUITE_P(Counts, GangsOnGpus, testing::Values(2U, 4U, 8U));

TEST(Gangs, ThreeTrainingsLoseLittle) {
    const GpuSet gpus = first_gpus(4);
    const Scenario three =
        on_gpus({training_of("a", gpus), training_of("b", gpus), training_of("c", gpus)}, 4);
    const Result result = simulate(three);
    EXPECT_GE(sum_of(result), 0.97);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(three)));
    for (const JobResult &one : result.jobs)
        EXPECT_NEAR(least_of(one), 1.0 / 3, 0.01);
}

class SharesOfGangs : public testing::TestWithParam<qos::Part> {};

TEST_P(SharesOfGangs, AreKeptWithinAPoint) {
    const GpuSet gpus = first_gpus(4);
    for (const auto make : {training_of, small_training}) {
        const Result result = simulate(
            on_gpus({make("a", gpus, share_of(GetParam())), training_of("b", gpus, {})}, 4));
        const JobResult &one = result.jobs[0];
        EXPECT_EQ(one.kept, true);
        EXPECT_TRUE(one.gang);
        for (const JobResult::OnGpu &rank : one.gpus)
            EXPECT_NEAR(number(rank.got), number(GetParam() * qos::point), 0.01);
        EXPECT_GE(sum_of(result), 0.97);
    }
}

INSTANTIATE_TEST_SUITE_P(Percents, SharesOfGangs, testing::Values(30, 60));

TEST(Gangs, TwoSharesAreKeptAndWhatIsLeftIsUsed) {
    const GpuSet gpus = first_gpus(4);
    const Result result = simulate(
        on_gpus({training_of("a", gpus, share_of(60)), training_of("b", gpus, share_of(30))}, 4));
    EXPECT_TRUE(result.all_kept());
    EXPECT_GE(least_of(result.jobs[0]), 0.59);
    EXPECT_GE(least_of(result.jobs[1]), 0.29);
    EXPECT_GE(sum_of(result), 0.97);
}

TEST(Gangs, ShareOfTimeInWhichRanksWaitForEachOtherIsNotKept) {
    // Its windows would harm others, so that its ranks have their GPUs at different times.
    const Scenario scenario = random_gangs(11);
    const Result result = simulate(scenario);
    const JobResult &decode = result.jobs.front();
    ASSERT_EQ(scenario.jobs.front().goal.aim, qos::Aim::share);
    EXPECT_GE(least_of(decode), number(scenario.jobs.front().goal.part) - 0.01);
    EXPECT_LE(speed_of(decode), 0.1);
    EXPECT_EQ(decode.kept, false);
}

TEST(Gangs, WeightsDivideTheTime) {
    const GpuSet gpus = first_gpus(4);
    const Result result =
        simulate(on_gpus({training_of("a", gpus, {.weight = 3}), training_of("b", gpus)}, 4));
    EXPECT_NEAR(least_of(result.jobs[0]), 0.75, 0.03);
    EXPECT_NEAR(least_of(result.jobs[1]), 0.25, 0.03);
}

TEST(Gangs, CapIsKeptOnAllGpusAtTheSameTime) {
    const GpuSet gpus = first_gpus(4);
    const simulation::Job capped = training_of("a", gpus, {.cap = 20 * qos::point});
    for (const std::vector<simulation::Job> &jobs :
         {std::vector{capped}, std::vector{capped, training_of("b", gpus)}}) {
        const Result result = simulate(on_gpus(jobs, 4));
        EXPECT_EQ(result.jobs[0].kept, true);
        EXPECT_GE(least_of(result.jobs[0]), 0.17);
        EXPECT_GT(together_of(result.jobs[0]), 0.85);
        EXPECT_GE(speed_of(result.jobs[0]), 0.2 - a_step - 0.01);
    }
}

TEST(Gangs, DecodeLoopAndTrainingRunInTurn) {
    const GpuSet gpus = first_gpus(4);
    for (const simulation::Job &beside : {training_of("b", gpus), small_training("b", gpus)}) {
        const Scenario both = on_gpus({decode_loop("a", gpus), beside}, 4);
        const Result result = simulate(both);
        EXPECT_GE(sum_of(result), 0.9);
        EXPECT_GE(sum_of(result), sum_of(as_it_is(both)) + 0.2);
        EXPECT_TRUE(result.jobs[0].gang);
    }
}

TEST(Gangs, DecodeLoopsThatRunTogetherAreLeftAlone) {
    const GpuSet gpus = first_gpus(4);
    Scenario both = on_gpus({decode_loop("a", gpus), decode_loop("b", gpus)}, 4);
    const Result result = simulate(both), before = as_it_is(both);
    EXPECT_EQ(sum_of(result), sum_of(before));
    EXPECT_EQ(result.requests_per_s, 0);
    EXPECT_FALSE(result.jobs[0].gang);
    EXPECT_EQ(result.jobs[0].gang_why,
              "left as it is, because it runs together for 100 % of its time");
}

TEST(Gangs, ServiceIsFirstOnAllOfItsGpusAtOnce) {
    const GpuSet gpus = first_gpus(4);
    for (const std::size_t trainings : {1U, 2U}) {
        std::vector<simulation::Job> jobs = {answers("s", gpus), training_of("a", gpus)};
        if (trainings == 2)
            jobs.push_back(training_of("b", gpus));
        const Result result = simulate(on_gpus(jobs, 4)), before = as_it_is(on_gpus(jobs, 4));
        const JobResult &service = result.jobs[0];
        EXPECT_LE(service.times.p99, service.alone_times.p99.value_or(0) * 3 / 2);
        EXPECT_GE(before.jobs[0].times.p50, service.times.p50.value_or(0) * 3);
        // The service leaves 0.65 or so, of which changes take a part.
        EXPECT_GE(sum_of(result) - speed_of(service), 0.52);
    }
}

TEST(Gangs, ServiceOnOneGpuIsFirstBesideTwoGangs) {
    const GpuSet gpus = first_gpus(4);
    simulation::Job service = job("s", {3}, {kernel(5000)}, {.aim = qos::Aim::latency});
    service.mean_gap = 100 * qos::ms;
    const std::vector<simulation::Job> jobs = {service, training_of("a", gpus, share_of(50)),
                                               small_training("b", gpus)};
    const Result result = simulate(on_gpus(jobs, 4)), before = as_it_is(on_gpus(jobs, 4));
    EXPECT_LT(result.jobs[0].times.p99, result.jobs[0].alone_times.p99.value_or(0) + qos::ms);
    EXPECT_EQ(result.jobs[1].kept, true);
    EXPECT_GE(sum_of(result), sum_of(before) + 0.1);
    EXPECT_GT(together_of(result.jobs[1]), 0.8);
}

// --- sets of GPUs that overlap ---

TEST(OverlappingGangs, RowsHaveGangsThatFitTogether) {
    const Scenario three = on_gpus(
        {training_of("a", first_gpus(4)), training_of("b", {0, 1}), training_of("c", {2, 3})}, 4);
    const Result result = simulate(three);
    EXPECT_GE(sum_of(result), 1.48);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(three)) + 0.1);
}

TEST(OverlappingGangs, ChainIsNoSlowerThanAsItIs) {
    const Scenario three =
        on_gpus({training_of("a", {0, 1}), training_of("b", {1, 2}), training_of("c", {2, 3})}, 4);
    EXPECT_GE(sum_of(simulate(three)), sum_of(as_it_is(three)));
}

TEST(OverlappingGangs, TriangleIsLeftAlone) {
    for (const auto make : {training_of, small_training}) {
        const Scenario three =
            on_gpus({make("a", {0, 1}, {}), make("b", {1, 2}, {}), make("c", {2, 0}, {})}, 3);
        const Result result = simulate(three);
        EXPECT_GE(sum_of(result), sum_of(as_it_is(three)) - a_step);
        EXPECT_FALSE(result.jobs[0].gang);
        EXPECT_NE(result.jobs[0].gang_why.find("left as it is, because"), std::string::npos);
    }
}

TEST(OverlappingGangs, SingleTaskAndGangTakeTurns) {
    const Scenario both = on_gpus({training_of("a", first_gpus(4)),
                                   job("b", {1}, {kernel(20'000), think(1000)}, share_of(40))},
                                  4);
    const Result result = simulate(both);
    EXPECT_TRUE(result.all_kept());
    EXPECT_GE(sum_of(result), sum_of(as_it_is(both)));
}

// --- ranks that are not there ---

TEST(GangRanks, KilledRankDoesNotHoldUpOtherGangs) {
    const GpuSet gpus = first_gpus(4);
    for (const qos::Goal &goal : {qos::Goal(), share_of(40)}) {
        Scenario both = on_gpus({training_of("a", gpus, goal), training_of("b", gpus)}, 4);
        both.kills = {{.at = 4 * qos::second, .job = 0, .rank = 2}};
        both.warmup = 5 * qos::second;
        const Result result = simulate(both), before = as_it_is(both);
        EXPECT_GE(speed_of(result.jobs[1]), speed_of(before.jobs[1]));
        // The dead rank leaves its GPU to the other gang.
        EXPECT_GE(number(result.jobs[1].gpus[2].got), 0.9);
    }
}

TEST(GangRanks, RankThatIdlesIsOwedNothing) {
    const GpuSet gpus = first_gpus(4);
    simulation::Job idling = job("a", gpus, {kernel(20'000), collective(500, 6)}, share_of(60));
    idling.programs.push_back({think(18'000), collective(500, 6)});
    idling.of_rank[3] = 1;
    const Scenario both = on_gpus({idling, training_of("b", gpus)}, 4);
    const Result result = simulate(both);
    EXPECT_NEAR(number(result.jobs[0].gpus[0].got), 0.6, 0.02);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(both)));
}

TEST(GangRanks, JobThatJoinsLaterHasWindows) {
    const GpuSet gpus = first_gpus(4);
    Scenario three =
        on_gpus({training_of("a", gpus), training_of("b", gpus), training_of("c", gpus)}, 4);
    three.jobs[2].start = 5 * qos::second + 20 * qos::ms;
    three.duration = 12 * qos::second;
    three.warmup = 6 * qos::second;
    const Result result = simulate(three);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(three)));
    for (const JobResult &one : result.jobs) {
        EXPECT_TRUE(one.gang);
        EXPECT_NEAR(least_of(one), 1.0 / 3, 0.02);
    }
}

TEST(GangRanks, JobThatMakesATriangleEndsWindows) {
    Scenario three =
        on_gpus({training_of("a", {0, 1}), training_of("b", {1, 2}), training_of("c", {2, 0})}, 3);
    three.jobs[2].start = 4 * qos::second;
    three.duration = 16 * qos::second;
    three.warmup = 9 * qos::second;
    const Result result = simulate(three);
    EXPECT_GE(sum_of(result), sum_of(as_it_is(three)) - a_step);
    EXPECT_FALSE(result.jobs[0].gang);
}

/// Keeps the timeslice that was asked for last, by job and rank.
struct LastTimeslices : simulation::Observer {
    void served(const simulation::RankPlace &where, const simulation::Request &request,
                qos::Ns) override {
        if (request.what == simulation::Request::What::timeslice)
            last[{where.job, where.rank}] = request.driver_us;
    }
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> last;
};

TEST(GangRanks, EndOfWindowsRestoresTheTimesliceOfTheJob) {
    const GpuSet gpus = first_gpus(2);
    for (const std::int64_t timeslice : {1800, 2000}) {
        Scenario both = on_gpus({training_of("a", gpus), training_of("b", gpus)}, 2);
        both.jobs[0].timeslice_us = timeslice;
        for (const std::size_t rank : gpus)
            both.kills.push_back({.at = 4 * qos::second, .job = 1, .rank = rank});
        both.duration = 6 * qos::second;
        LastTimeslices seen;
        simulate(both, &seen);
        for (const std::size_t rank : gpus)
            EXPECT_EQ((seen.last[{0, rank}]), timeslice);
    }
}

/// Sees whether requests are served in the order of time.
struct TimesServed : simulation::Observer {
    void served(const simulation::RankPlace &, const simulation::Request &, qos::Ns now) override {
        goes_back = goes_back || now < last;
        last = now;
    }
    qos::Ns last = 0;
    bool goes_back = false;
};

TEST(GangRanks, RequestsThatTakeLongerThanAWindowDelayTheNextOne) {
    Scenario both = on_gpus({training_of("a", first_gpus(4)), training_of("b", first_gpus(4))}, 4);
    both.gpus.request = 10 * qos::ms; // 16 of them change a row
    TimesServed seen;
    simulate(both, &seen);
    EXPECT_FALSE(seen.goes_back);
    EXPECT_GT(seen.last, 8 * qos::second);
}

TEST(GangRanks, SecondsInWindowsHaveNoReasonOfAGovernor) {
    // The governor gives a reason at the end of its last epoch, and rests when the windows begin.
    Scenario both = on_gpus(
        {training_of("a", first_gpus(2), share_of(60)), training_of("b", first_gpus(2))}, 2);
    simulation::Governed governed(both);
    simulation::Measures seen = simulation::Machine(both, &governed).run();
    governed.add_verdicts(seen);
    ASSERT_FALSE(seen.jobs[0].ranks[0].verdicts.empty());
    EXPECT_LT(seen.jobs[0].ranks[0].verdicts.back().at, 2 * qos::second);
    seen.jobs[0].ranks[0].verdicts.back().why = qos::WhyNot::no_demand;
    for (const auto &why : seen.jobs[0].ranks[0].reasons_in_seconds())
        EXPECT_FALSE(why.has_value());
}

// --- gangs that are none ---

TEST(Gangs, JobAloneOnItsGpusIsNoGang) {
    const Result result =
        simulate(on_gpus({training_of("a", {0, 1}), training_of("b", {2, 3}, share_of(50))}, 4));
    for (const JobResult &one : result.jobs) {
        EXPECT_FALSE(one.gang);
        EXPECT_EQ(one.gang_why, "");
        EXPECT_GE(speed_of(one), 0.97);
    }
}

TEST(Gangs, ReplicasAreControlledByThemselves) {
    const GpuSet gpus = first_gpus(2);
    Scenario both = on_gpus({job("a", gpus, {kernel(9000), think(900)}, share_of(40)),
                             job("b", gpus, {kernel(5000), think(100)})},
                            2);
    for (simulation::Job &one : both.jobs)
        one.gang = false;
    const Result result = simulate(both);
    EXPECT_TRUE(result.all_kept());
    EXPECT_FALSE(result.jobs[0].gang);
    EXPECT_EQ(result.jobs[0].gang_why, "");
    EXPECT_LT(result.requests_per_s, 50 * qos::whole);
}

TEST(Gangs, ShareIsKeptBesideAServiceThatIsAlwaysBusy) {
    const GpuSet gpus = first_gpus(4);
    Scenario three = on_gpus({training_of("s", gpus, {.aim = qos::Aim::latency}),
                              training_of("a", gpus, share_of(20)), training_of("b", gpus)},
                             4);
    three.duration = 16 * qos::second;
    three.warmup = 9 * qos::second;
    const Result result = simulate(three);
    EXPECT_EQ(result.jobs[1].kept, true);
    EXPECT_NE(result.jobs[1].gang_why.find("did not keep a share"), std::string::npos);
}

TEST(Gangs, ServicesAmongThemselvesHaveNoWindows) {
    const GpuSet gpus = first_gpus(2);
    const Result result = simulate(on_gpus({answers("a", gpus), answers("b", gpus)}, 2));
    EXPECT_FALSE(result.jobs[0].gang);
    EXPECT_GE(sum_of(result), 1.9);
}

TEST(Gangs, GoalForTimeslicesBarsWindows) {
    const GpuSet gpus = first_gpus(2);
    const Result result = simulate(
        on_gpus({training_of("a", gpus, {.aim = qos::Aim::timeslice, .slice = 4 * qos::ms}),
                 training_of("b", gpus)},
                2));
    EXPECT_FALSE(result.jobs[1].gang);
    EXPECT_NE(result.jobs[1].gang_why.find("timeslice"), std::string::npos);
}

} // namespace
