// SPDX-License-Identifier: MIT OR GPL-2.0
// Scenarios of gangs at random, with windows and without: no job, and not all jobs together, may
// lose by windows. The same governors keep the goals in both runs.
#include <gtest/gtest.h>

#include "lib/simulation/result.hpp"
#include "random_gangs.hpp"

namespace {

using simulation::JobResult;

/// Returns the sum of speeds.
qos::Part speeds_of(const simulation::Result &result) {
    qos::Part sum = 0;
    for (const JobResult &job : result.jobs)
        sum += job.speed.value_or(0);
    return sum;
}

class GangsAtRandom : public testing::TestWithParam<std::uint64_t> {};

TEST_P(GangsAtRandom, AreNoWorseWithWindows) {
    const simulation::Scenario scenario = test_jobs::random_gangs(GetParam());
    simulation::Scenario without = scenario;
    for (simulation::Job &job : without.jobs)
        job.gang = false; // each GPU is controlled by itself
    const simulation::Result result = simulate(scenario), before = simulate(without);
    EXPECT_GE(speeds_of(result), qos::scaled(speeds_of(before), 97, 100));
    for (std::size_t n = 0; n < result.jobs.size(); n++)
        EXPECT_GE(result.jobs[n].speed.value_or(0), before.jobs[n].speed.value_or(0) / 2)
            << scenario.jobs[n].name;
}

INSTANTIATE_TEST_SUITE_P(Seeds, GangsAtRandom, testing::Range<std::uint64_t>(1, 61));

} // namespace
