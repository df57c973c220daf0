// SPDX-License-Identifier: MIT OR GPL-2.0
// Shares beside trainings with a processor that launches many small kernels just in time, so that their
// bursts have all lengths, and shares that turns of one length cannot reach.
#include <gtest/gtest.h>

#include "jobs.hpp"
#include "lib/simulation/governed.hpp"
#include "lib/simulation/machine.hpp"
#include "lib/simulation/result.hpp"

namespace {

using namespace test_jobs;
using simulation::Governed;
using simulation::JobResult;
using simulation::Machine;
using simulation::Result;
using simulation::Scenario;
using simulation::simulate;

/// Has 19 ms of kernels in a step. @param launch_percent of a kernel's time
simulation::Job launching(Ns kernel_us, Ns launch_percent, qos::Part jitter,
                          const qos::Goal &goal = {}) {
    simulation::Program steps(static_cast<std::size_t>(std::max<Ns>(2, 19'000 / kernel_us)),
                              kernel(kernel_us));
    for (Item &one : steps)
        one.launch = one.time * launch_percent / 100;
    steps.insert(steps.begin(), think(500));
    simulation::Job made = job("train", {0}, steps, goal);
    made.cpu_jitter = jitter;
    return made;
}

simulation::Job decoding(const std::string &name, const qos::Goal &goal) {
    return job(name, {0}, {kernel(7200), think(500)}, goal);
}

Scenario run_of(const std::vector<simulation::Job> &jobs, std::uint64_t seed) {
    Scenario made = scenario(jobs);
    made.duration = 13 * qos::second;
    made.seed = seed;
    return made;
}

double points_of(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::point);
}

using Case = std::tuple<Ns, Ns, qos::Part, Ns, std::uint64_t>;

class ShareOfATrainingThatLaunchesJustInTime : public testing::TestWithParam<Case> {};

/// The training has its share beside a service, not more, and is reported to have it.
TEST_P(ShareOfATrainingThatLaunchesJustInTime, IsKeptBesideAService) {
    const auto [kernel_us, launch_percent, jitter, share, seed] = GetParam();
    const Scenario both = run_of({decoding("loop", served_first),
                                  launching(kernel_us, launch_percent, jitter, share_of(share))},
                                 seed);
    const Result result = simulate(both);
    const JobResult &train = result.jobs[1];
    EXPECT_EQ(train.kept, true) << points_of(train.got);
    EXPECT_GT(points_of(train.got), static_cast<double>(share) - 1);
    EXPECT_LT(points_of(train.got), static_cast<double>(share) + 1.7); // with what its turns lose
    Governed control(both);
    Machine(both, &control).run();
    EXPECT_LE(control.keepers()[0].missed(1), 15U); // of 130, in the first two seconds
}

INSTANTIATE_TEST_SUITE_P(All, ShareOfATrainingThatLaunchesJustInTime,
                         testing::Combine(testing::Values(27, 147), testing::Values(50, 140),
                                          testing::Values(2 * qos::point),
                                          testing::Values(10, 20, 40), testing::Values(1, 2, 3)));

class ShareOfALoopBesideLaunches : public testing::TestWithParam<Case> {};

TEST_P(ShareOfALoopBesideLaunches, IsKeptAndNotExceeded) {
    const auto [kernel_us, launch_percent, jitter, share, seed] = GetParam();
    const Result result = simulate(run_of(
        {decoding("loop", share_of(share)), launching(kernel_us, launch_percent, jitter)}, seed));
    EXPECT_EQ(result.jobs[0].kept, true);
    EXPECT_NEAR(points_of(result.jobs[0].got), static_cast<double>(share), 1.1);
    EXPECT_GE(result.jobs[0].seconds_kept, 8U);
}

INSTANTIATE_TEST_SUITE_P(All, ShareOfALoopBesideLaunches,
                         testing::Combine(testing::Values(27, 147), testing::Values(50, 140),
                                          testing::Values(2 * qos::point, 20 * qos::point),
                                          testing::Values(40, 60, 80), testing::Values(1, 2)));

struct Pair {
    const char *name;
    Ns step_us, pause_us; ///< of the other task
    qos::Part share;      ///< of a decode loop
};

void PrintTo(const Pair &pair, std::ostream *out) {
    *out << pair.name;
}

class ShareBetweenReachableParts : public testing::TestWithParam<Pair> {};

/// Bursts end turns early, so that turns of one length give the loop too much or too little.
TEST_P(ShareBetweenReachableParts, IsKeptAndNotExceeded) {
    const Pair &pair = GetParam();
    for (const std::uint64_t seed : {1, 2, 3}) {
        simulation::Job other = job("other", {0}, {think(pair.pause_us), kernel(pair.step_us)});
        other.cpu_jitter = 2 * qos::point;
        const Result result =
            simulate(run_of({decoding("loop", share_of(pair.share)), other}, seed));
        EXPECT_EQ(result.jobs[0].kept, true) << seed;
        EXPECT_NEAR(points_of(result.jobs[0].got), static_cast<double>(pair.share), 1) << seed;
    }
}

/// The first bursts were cut. Later ones end while nobody certainly waits, and are longer.
TEST(ShareOfALoop, IsNotExceededAfterBurstsThatWereCut) {
    for (const std::uint64_t seed : {1, 4, 7}) {
        simulation::Job loop = job("loop", {0}, {kernel(9000), think(900)});
        loop.goal = share_of(50);
        simulation::Job other = job("other", {0}, {think(500), kernel(24000)});
        const Result result = simulate(run_of({loop, other}, seed));
        EXPECT_EQ(result.jobs[0].kept, true) << seed;
        EXPECT_NEAR(points_of(result.jobs[0].got), 50, 1) << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Pairs, ShareBetweenReachableParts,
                         testing::Values(Pair{"steps of 24 ms", 24'000, 500, 30},
                                         Pair{"steps of 24 ms, half", 24'000, 500, 50},
                                         Pair{"another loop, 30", 7200, 500, 30},
                                         Pair{"another loop, 60", 7200, 500, 60},
                                         Pair{"another loop, 70", 7200, 500, 70}),
                         [](const auto &row) {
                             std::string name;
                             for (const char c : std::string(row.param.name))
                                 if (std::isalnum(static_cast<unsigned char>(c)))
                                     name += c;
                             return name;
                         });

} // namespace
