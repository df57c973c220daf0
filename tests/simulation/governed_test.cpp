// SPDX-License-Identifier: MIT OR GPL-2.0
// Goals on simulated GPUs, and the verdicts in the results.
#include <gtest/gtest.h>

#include "jobs.hpp"
#include "lib/simulation/machine.hpp"
#include "lib/simulation/result.hpp"

namespace {

using namespace test_jobs;
using simulation::JobResult;
using simulation::Result;
using simulation::Scenario;
using simulation::simulate;

simulation::Job always(const std::string &name, const qos::Goal &goal = {}) {
    return job(name, {0}, {kernel(20'000)}, goal);
}

TEST(Results, ShareIsKept) {
    const Result result = simulate(scenario({always("a", share_of(70)), always("b")}));
    EXPECT_GE(result.jobs[0].got, 69 * qos::point);
    EXPECT_EQ(result.jobs[0].number, result.jobs[0].got);
    EXPECT_EQ(result.jobs[0].kept, true);
    EXPECT_TRUE(result.all_kept());
    EXPECT_NEAR(static_cast<double>(result.busy[0]),
                static_cast<double>(result.jobs[0].got + result.jobs[1].got), 2);
}

TEST(Results, ShareIsKeptByAJobThatUsesAllItCan) {
    // Alone it has 0.1 of its GPU, and it is served first among others.
    Scenario one = scenario({job("a", {0}, {kernel(1000), think(9000)}, share_of(30))});
    const Result result = simulate(one);
    EXPECT_NEAR(static_cast<double>(result.jobs[0].got), 0.1e6, 1000);
    EXPECT_EQ(result.jobs[0].kept, true);
}

TEST(Results, ShareIsNotKeptWithoutControlOfIt) {
    // Timeslices of its own keep it from the GPU for long.
    Scenario both = scenario({always("a", share_of(60)), always("b")});
    both.gpus.request = 100 * qos::second; // nothing that is asked for takes effect
    EXPECT_EQ(simulate(both).jobs[0].kept, false);
    EXPECT_FALSE(simulate(both).all_kept());
}

TEST(Results, CapIsKeptInEverySecond) {
    const Result result = simulate(scenario({always("a", {.cap = 20 * qos::point}), always("b")}));
    EXPECT_EQ(result.jobs[0].kept, true);
    EXPECT_LE(result.jobs[0].most_in_a_second, 21 * qos::point);
    EXPECT_GE(result.jobs[0].got, 17 * qos::point);
    EXPECT_GT(result.requests_per_s, 0);
}

TEST(Results, CapIsNotKeptWithoutPauses) {
    Scenario both = scenario({always("a", {.cap = 20 * qos::point}), always("b")});
    both.gpus.request = 100 * qos::second; // nothing that is asked for takes effect
    EXPECT_EQ(simulate(both).jobs[0].kept, false);
}

TEST(Results, EachJobHasItsOwnSpeedAlone) {
    const Result result = simulate(scenario({always("a"), job("b", {0}, {kernel(10'000)})}));
    EXPECT_NEAR(static_cast<double>(result.jobs[0].alone_per_s), 50e6, 0.2e6);
    EXPECT_NEAR(static_cast<double>(result.jobs[1].alone_per_s), 100e6, 0.2e6);
}

TEST(Results, LatencyIsTheTimeOfRequests) {
    simulation::Job service =
        job("a", {0}, {kernel(2000)}, {.aim = qos::Aim::latency, .p99 = 9 * qos::ms});
    service.mean_gap = 50 * qos::ms;
    const Result result = simulate(scenario({service, always("b")}));
    EXPECT_EQ(result.jobs[0].kept, true);
    EXPECT_EQ(result.jobs[0].number, result.jobs[0].times.p99);
    EXPECT_NEAR(static_cast<double>(result.jobs[0].times.count), 140, 40);
    service.goal.p99 = qos::ms; // less than the kernel
    EXPECT_EQ(simulate(scenario({service, always("b")})).jobs[0].kept, false);
}

TEST(Results, SpeedIsThatBesideOthersByThatAlone) {
    Scenario both = scenario({always("a"), always("b")});
    both.has_control = false;
    const Result result = simulate(both);
    EXPECT_NEAR(static_cast<double>(result.jobs[0].alone_per_s), 50e6, 0.2e6);
    EXPECT_NEAR(static_cast<double>(result.jobs[0].speed.value_or(0)), 0.44e6, 0.02e6);
    EXPECT_EQ(result.jobs[0].kept, std::nullopt);
    EXPECT_EQ(result.requests_per_s, 0);
    EXPECT_EQ(result.jobs[0].together, std::nullopt);
}

/// A job alone runs for 2,000 passes if that is shorter, and has the same speed.
TEST(Results, ShortPassesAreMeasuredForLessTimeAlone) {
    const auto speeds = [](Ns seconds) {
        Scenario made = scenario({job("a", {0, 1}, {kernel(600), collective(200, 2), think(200)}),
                                  job("b", {0, 1}, {kernel(5000)})},
                                 2);
        made.has_control = false;
        made.gpus.kernel_jitter = 5 * qos::point;
        made.duration = seconds * qos::second;
        return simulate(made).jobs;
    };
    const auto longer = speeds(13), shorter = speeds(5);
    EXPECT_NEAR(static_cast<double>(longer[0].alone_times.count), 2000, 40);
    EXPECT_NEAR(static_cast<double>(longer[1].alone_times.count), 2000, 40);
    EXPECT_NEAR(static_cast<double>(shorter[1].alone_times.count), 400, 2) << "all of its time";
    for (const std::size_t n : {0U, 1U}) {
        EXPECT_NEAR(static_cast<double>(longer[n].alone_per_s) /
                        static_cast<double>(shorter[n].alone_per_s),
                    1, 0.004);
        EXPECT_NEAR(static_cast<double>(longer[n].gpus[0].got_alone),
                    static_cast<double>(shorter[n].gpus[0].got_alone), 0.002 * qos::whole);
        EXPECT_NEAR(static_cast<double>(longer[n].speed.value()),
                    static_cast<double>(longer[n].per_s) /
                        static_cast<double>(longer[n].alone_per_s) * qos::whole,
                    0.001 * qos::whole);
    }
}

TEST(Results, RanksAloneAreTogether) {
    const Result result =
        simulate(scenario({job("a", {0, 1}, {kernel(1000), collective(100, 2)})}, 2));
    EXPECT_GT(result.jobs[0].together.value_or(0), 99 * qos::point);
}

TEST(Results, NothingIsSaidOfAGoalWhoseProcessWasKilled) {
    Scenario one = scenario(
        {job("a", {0, 1}, {kernel(1000), collective(100, 2)}, share_of(30)), always("b")}, 2);
    one.kills = {{.at = 5 * qos::second, .job = 0, .rank = 1}};
    const Result result = simulate(one);
    EXPECT_EQ(result.jobs[0].kept, std::nullopt);
    // Its peer spins for the rest of the time, and the dead rank has nothing more.
    EXPECT_NEAR(static_cast<double>(result.jobs[0].gpus[1].got), 2.0 / 7 * 1e6, 0.02e6);
    EXPECT_GT(result.jobs[0].gpus[0].got, 28 * qos::point);
    EXPECT_EQ(result.jobs[1].kept, true);
}

TEST(Results, AnotherJobElsewhereChangesNothing) {
    simulation::Job varied = job("a", {0}, {kernel(900), think(300)});
    varied.cpu_jitter = 20 * qos::point;
    varied.mean_gap = 5 * qos::ms;
    Scenario one = scenario({varied}, 2);
    one.gpus.kernel_jitter = 10 * qos::point;
    Scenario two = one;
    two.jobs.insert(two.jobs.begin(), job("0", {1}, {kernel(100)}));
    const auto times = [](const JobResult &result) {
        return std::tuple(result.got, result.times.count, result.times.p50, result.times.p99);
    };
    EXPECT_EQ(times(simulate(one).jobs[0]), times(simulate(two).jobs[1]));
    one.seed = 2;
    EXPECT_NE(times(simulate(one).jobs[0]), times(simulate(two).jobs[1]));
}

TEST(RandomNumbers, HaveTheirDistributions) {
    simulation::Random random(1, "j", simulation::Random::Purpose::cpu);
    double sum = 0, squares = 0, gaps = 0, short_gaps = 0;
    constexpr int count = 100'000;
    for (int n = 0; n < count; n++) {
        const double normal = static_cast<double>(random.normal()) / 4294967296.0;
        sum += normal;
        squares += normal * normal;
        const Ns gap = random.exponential(qos::ms);
        gaps += qos::milliseconds(gap);
        short_gaps += gap < qos::ms;
    }
    EXPECT_NEAR(sum / count, 0, 0.02);
    EXPECT_NEAR(squares / count, 1, 0.03);
    EXPECT_NEAR(gaps / count, 1, 0.02);
    EXPECT_NEAR(short_gaps / count, 0.632, 0.01);
}

TEST(RandomNumbers, JitterNeverMakesATimeNegative) {
    constexpr std::int64_t one = std::int64_t{1} << 32;
    EXPECT_EQ(simulation::jittered(1000, qos::whole, -6 * one), 0);
    EXPECT_EQ(simulation::jittered(1'000'000, 10 * qos::point, one), 1'100'000);
}

TEST(Tables, AreAtMost80Columns) {
    std::string name;
    for (int n = 0; n < 60; n++)
        name += "ä"; // two bytes
    Scenario one = scenario({always(name, share_of(30)), job("b", {0}, {kernel(1)})});
    one.name = name + name;
    one.jobs[0].goal_text = "share:30.125%,cap:70.125%";
    one.duration = 5 * qos::second;
    const std::string table = simulation::table_of(one, simulate(one));
    std::size_t columns = 0, most = 0;
    for (const char c : table) {
        columns = c == '\n' ? 0 : columns + ((c & '\xc0') != '\x80');
        most = std::max(most, columns);
    }
    EXPECT_LE(most, 80U) << table;
    EXPECT_NE(table.find("ää…  share:30.125%,…"), table.npos) << table;
}

} // namespace
