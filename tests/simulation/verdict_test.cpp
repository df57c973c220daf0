// SPDX-License-Identifier: MIT OR GPL-2.0
// Verdicts of nvqos on runs at random that an earlier way of counting got wrong (verdict_sweep has all).
#include <gtest/gtest.h>

#include "verdict_runs.hpp"

namespace {

using namespace test_jobs;

class VerdictOnRun : public testing::TestWithParam<std::uint64_t> {};

/// Goals of runs 52 to 994 were called kept although their turns lost more than 5 points at their ends.
/// Goals of the other runs were called missed although they were kept by 3 points or more.
TEST_P(VerdictOnRun, DoesNotContradictTheJobsOwnProgress) {
    const simulation::Scenario scenario = VerdictRun(GetParam()).scenario_of_run();
    for (const Judged &one : judge(scenario)) {
        const qos::Part margin = one.margin(scenario.jobs[one.job].goal);
        EXPECT_NE(one.said(), margin < 0 ? Said::kept : Said::missed) << one.job << " " << margin;
    }
}

INSTANTIATE_TEST_SUITE_P(LossAtTurnEnds, VerdictOnRun, testing::Values(52, 63, 101, 314, 882, 994));
INSTANTIATE_TEST_SUITE_P(PausesThatCannotBeSeen, VerdictOnRun,
                         testing::Values(349, 366, 482, 592, 651, 953));

} // namespace
