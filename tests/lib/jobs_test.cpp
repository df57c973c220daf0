// SPDX-License-Identifier: MIT OR GPL-2.0
// Which processes are a job on several GPUs, and how much of its time all of its GPUs run it.
#include "nvdebug/jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace nvdebug {
namespace {

using Numbers = std::vector<std::size_t>;
using Groups = std::vector<Numbers>;

constexpr std::uint64_t us = 1'000, ms = 1'000 * us, s = 1'000 * ms;

/// A process as the driver's source finds it: its number, its cgroup, its start in ticks, and its
/// launcher.
JobProcess rank(std::uint32_t gpu, std::uint32_t pid, const char *cgroup, std::uint64_t started,
                std::optional<std::uint32_t> launcher = {}, const char *command = "python") {
    return {gpu, {pid, command, cgroup, {}, started, launcher}};
}

constexpr const char *step_0 = "/system.slice/slurmstepd.scope/job_17/step_0/user/task_0",
                     *step_1 = "/system.slice/slurmstepd.scope/job_17/step_1/user/task_0",
                     *batch = "/system.slice/slurmstepd.scope/job_17/step_batch/user/task_0",
                     *session = "/user.slice/user-1000.slice/session-3.scope";

std::string container(char digit) {
    return "/docker/" + std::string(64, digit);
}

TEST(Jobs, ProcessOnSeveralGpusIsOne) {
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 1), rank(1, 7, session, 1)}),
              Groups({{0, 1}}));
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 1)}), Groups());
    EXPECT_EQ(jobs_on_several_gpus({}), Groups());
}

TEST(Jobs, SuccessorOfAPidIsAnotherProcess) {
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 1), rank(1, 7, session, 9)}), Groups());
}

TEST(Jobs, TasksOfASlurmStepAreOne) {
    // Each task has a launcher of its own, as with a torchrun for each node.
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, step_0, 1, 70), rank(1, 8, step_0, 5'000, 80),
                                    rank(2, 9, step_1, 1, 90), rank(3, 10, step_1, 1, 90)}),
              Groups({{0, 1}, {2, 3}}));
}

TEST(Jobs, ProgramsOfABatchScriptNeedNotBelongTogether) {
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, batch, 1), rank(1, 8, batch, 1)}), Groups());
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, batch, 1, 70), rank(1, 8, batch, 1, 70)}),
              Groups({{0, 1}}))
        << "torchrun in the script is their launcher";
}

TEST(Jobs, ProcessesOfAContainerAreOne) {
    const std::string a = container('a'), b = container('b');
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, a.c_str(), 1), rank(1, 8, a.c_str(), 9'000),
                                    rank(0, 9, b.c_str(), 1), rank(1, 10, b.c_str(), 1)}),
              Groups({{0, 1}, {2, 3}}));
}

TEST(Jobs, ReplicasInAContainerAreSeveral) {
    const std::string a = container('a');
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, a.c_str(), 1, 70), rank(1, 8, a.c_str(), 1, 70),
                                    rank(2, 9, a.c_str(), 1, 90), rank(3, 10, a.c_str(), 1, 90)}),
              Groups({{0, 1}, {2, 3}}));
}

TEST(Jobs, ProcessesOfOneLauncherAreOneIfTheyBeganTogether) {
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 100, 70), rank(1, 8, session, 1'100, 70)}),
              Groups({{0, 1}}));
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 100, 70), rank(1, 8, session, 1'101, 70)}),
              Groups());
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 100, 70), rank(1, 8, session, 100, 80)}),
              Groups());
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 100), rank(1, 8, session, 100)}), Groups())
        << "a shell started both";
}

TEST(Jobs, LauncherWithTurnsIsOneOfTheRanks) {
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 70, session, 100), rank(1, 8, session, 5'000, 70),
                                    rank(2, 9, session, 5'000, 70)}),
              Groups({{0, 1, 2}}));
    EXPECT_EQ(jobs_on_several_gpus({rank(1, 70, session, 100), rank(1, 8, session, 5'000, 70),
                                    rank(2, 9, session, 5'000, 70)}),
              Groups())
        << "in doubt they are separate";
}

TEST(Jobs, ProcessesThatShareAGpuAreSeveral) {
    // Two launchers in a container, and both jobs on the same GPUs.
    const std::string a = container('a');
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, a.c_str(), 1, 70), rank(1, 8, a.c_str(), 1, 70),
                                    rank(0, 9, a.c_str(), 1, 90), rank(1, 10, a.c_str(), 1, 90)}),
              Groups({{0, 1}, {2, 3}}));
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, step_0, 1, 70), rank(0, 8, step_0, 1, 70)}),
              Groups());
}

TEST(Jobs, MpsServerIsNone) {
    EXPECT_EQ(jobs_on_several_gpus({rank(0, 7, session, 1, {}, "nvidia-cuda-mps"),
                                    rank(1, 7, session, 1, {}, "nvidia-cuda-mps")}),
              Groups());
}

TEST(JobTimes, TogetherIsAPartOfTheMeanTime) {
    JobTimes times;
    EXPECT_EQ(times.together(), std::nullopt);
    times.add({{{0, 10}, {20, 30}}, {{5, 15}, {20, 30}}});
    EXPECT_EQ(times.together_ns(), 15U);
    EXPECT_DOUBLE_EQ(*times.together(), 15.0 / 20);
    times.add({{{40, 50}}, {}}); // one rank was alone
    EXPECT_DOUBLE_EQ(*times.together(), 30.0 / 50);
}

TEST(JobTimes, SkewIsOfTheBeginsOfTurnsThatOverlap) {
    JobTimes times;
    // The long turn begins with the first one on the other GPU, and not again with the second one.
    times.add({{{0, 30}, {50, 60}, {70, 80}}, {{4, 10}, {12, 30}, {51, 60}, {78, 90}}});
    EXPECT_EQ(times.skews().count(), 3U);
    EXPECT_EQ(times.skews().max(), 8U);
    EXPECT_EQ(times.skews().sum(), 4U + 1 + 8);
    JobTimes cut;
    cut.add({{{0, 30, false}}, {{4, 10}}});
    EXPECT_EQ(cut.skews().count(), 0U) << "its begin was not seen";
    EXPECT_EQ(cut.together_ns(), 6U);
}

TEST(JobTimes, ThreeRanksNeedAllOfThem) {
    JobTimes times;
    times.add({{{0, 100}}, {{10, 60}}, {{50, 100}}});
    EXPECT_EQ(times.together_ns(), 10U);
    EXPECT_DOUBLE_EQ(*times.together(), 30.0 / 200);
    EXPECT_EQ(times.skews().max(), 50U);
}

TEST(ClockMap, FollowsAClockThatDrifts) {
    ClockMap map;
    EXPECT_EQ(map.monotonic_ns(5), std::nullopt);
    map.add(1'000 * s, 7 * s);
    EXPECT_EQ(map.monotonic_ns(1'001 * s), 8 * s) << "one reading: both go alike";
    EXPECT_EQ(map.monotonic_ns(999 * s), 6 * s);
    map.add(1'010 * s, 17 * s + ms); // 100 millionths slow
    EXPECT_EQ(map.monotonic_ns(1'005 * s), 12 * s + ms / 2);
    EXPECT_EQ(map.monotonic_ns(1'011 * s), 18 * s + ms);
    map.add(1'009 * s, 19 * s);
    EXPECT_EQ(map.monotonic_ns(1'010 * s), 17 * s + ms) << "an earlier time is no new reading";
    map.forget_before(1'011 * s);
    EXPECT_EQ(map.monotonic_ns(1'011 * s), 18 * s + ms);
    EXPECT_EQ(map.monotonic_ns(1'010 * s), 17 * s + ms);
}

/// Readings of a clock of a GPU that is @p bend ns a second faster after each second.
std::vector<ClockReadings> bent(std::size_t count, double bend, std::uint64_t within) {
    std::vector<ClockReadings> readings;
    for (std::size_t n = 0; n < count; n++) {
        const auto at = static_cast<double>(n);
        readings.push_back(
            {1'000 * s + n * s,
             static_cast<std::uint64_t>(7e9 + at * 1e9 + 20'000 * at + bend / 2 * at * at),
             within});
    }
    return readings;
}

TEST(ClockError, NeedsTwoReadingsForADrift) {
    ClockError error;
    EXPECT_EQ(error.fit().readings, 0U);
    EXPECT_EQ(error.fit().error_ns(), std::nullopt);
    error.add({1'000 * s, 7 * s, 4'000});
    EXPECT_EQ(error.fit().error_ns(), std::nullopt) << "it may drift by any amount";
    error.add({1'000 * s, 7 * s, 1'000});
    EXPECT_EQ(error.fit().readings, 1U) << "the clocks have not gone on";
    error.add({1'001 * s, 8 * s - 20 * us, 4'500});
    EXPECT_EQ(error.fit().readings, 2U);
    EXPECT_NEAR(*error.fit().drift_ns_per_s, -20'000, 1);
    EXPECT_EQ(error.fit().uneven_ns, std::nullopt);
    EXPECT_EQ(error.fit().error_ns(), 4'500U);
}

TEST(ClockError, BoundsTheErrorOfEvenAndOfBentClocks) {
    for (const double bend : {0.0, 500.0, -4'000.0, 30'000.0}) {
        ClockError error;
        ClockMap map;
        for (const ClockReadings &reading : bent(10, bend, 100)) {
            error.add(reading);
            map.add(reading.gpu_ns, reading.monotonic_ns);
        }
        double worst = 0;
        for (std::uint64_t at = 0; at <= 9 * s; at += 50 * ms) {
            const double after = static_cast<double>(at) / 1e9;
            const double truth = 7e9 + after * 1e9 + 20'000 * after + bend / 2 * after * after;
            worst = std::max(
                worst, std::abs(static_cast<double>(*map.monotonic_ns(1'000 * s + at)) - truth));
        }
        const auto bound = static_cast<double>(*error.fit().error_ns());
        EXPECT_LE(worst, bound) << bend;
        EXPECT_LE(bound, worst + 160) << bend << ": the bound is not much wider than the error";
    }
}

TEST(ClockError, HoldsForReadingsThatAreWrongWithinTheirBounds) {
    // The errors of three readings hide the bend of 1,600 ns that the clock has in its two seconds.
    ClockError error;
    const std::vector<ClockReadings> truth = bent(3, 1'600, 1'000);
    for (std::size_t n = 0; n < truth.size(); n++)
        error.add({truth[n].gpu_ns, truth[n].monotonic_ns + (n == 1 ? 400 : 0) - (n == 1 ? 0 : 400),
                   1'000});
    // The line between two readings is 400 ns off by their errors, and 200 ns by the bend.
    EXPECT_GE(*error.fit().error_ns(), 600U);
}

TEST(ClockError, TakesABendFromEvenlySpacedReadingsOnly) {
    ClockError error;
    for (const std::uint64_t at : {0 * ms, 1'000 * ms, 1'010 * ms})
        error.add({1'000 * s + at, 7 * s + at, 4'000});
    EXPECT_EQ(error.fit().uneven_ns, std::nullopt);
    EXPECT_EQ(error.fit().error_ns(), 4'000U);
}

TEST(ClockError, OfALongGapIsLarger) {
    ClockError error;
    for (const std::uint64_t at : {0 * s, 1 * s, 2 * s})
        error.add({1'000 * s + at, 7 * s + at, 4'000});
    const std::uint64_t before = *error.fit().uneven_ns;
    EXPECT_NEAR(static_cast<double>(before), 2'000, 2) << "a half of the width of the readings";
    error.add({1'012 * s, 19 * s, 4'000});
    EXPECT_NEAR(static_cast<double>(*error.fit().uneven_ns), 200'000, 200);
}

/// Two GPUs with clocks that began at different times, and a job of two processes on them.
class TwoGpus : public ::testing::Test {
  protected:
    TwoGpus() { add_processes(meter); }

    static void add_processes(JobMeter &to) {
        for (const std::uint32_t gpu : {0U, 1U})
            to.process(gpu, rank(gpu, 7 + gpu, step_0, 1).process);
    }
    static Turn turn(std::uint32_t gpu, std::uint64_t begin, std::uint64_t end, bool whole = true) {
        return {{.pid = 7 + gpu, .started = 1}, begin, end, whole, {}};
    }

    JobMeter meter;
};

TEST_F(TwoGpus, AreComparedByOneClock) {
    // GPU 1 is 500 s ahead, and gains 1 ms in 10 s.
    meter.clock(0, 0, 100 * s);
    meter.clock(1, 500 * s, 100 * s);
    for (std::uint64_t at = 0; at < 10 * s; at += s) {
        meter.turn(0, turn(0, at, at + 10 * ms));
        const std::uint64_t ahead = 500 * s + at + at / 10'000;
        meter.turn(1, turn(1, ahead, ahead + 10 * ms));
    }
    meter.clock(0, 10 * s, 110 * s);
    meter.clock(1, 510 * s + ms, 110 * s);
    const auto jobs = meter.take();
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs[0].processes.size(), 2U);
    ASSERT_TRUE(jobs[0].times);
    EXPECT_GT(jobs[0].times->together().value(), 0.9999);
    EXPECT_EQ(jobs[0].times->skews().count(), 10U);
    EXPECT_LT(jobs[0].times->skews().max(), us) << "with the first readings alone it is 0.9 ms";
    EXPECT_TRUE(meter.take().empty()) << "take() begins anew";
}

TEST_F(TwoGpus, WithoutAClockAreNotCompared) {
    meter.clock(0, 0, 100 * s);
    meter.turn(0, turn(0, 0, ms));
    meter.turn(1, turn(1, 0, ms));
    const auto jobs = meter.take();
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_FALSE(jobs[0].times);
}

/// The memory is bounded, and the sums are the same as without a bound.
TEST_F(TwoGpus, LongRecordingsAreComparedInParts) {
    for (const bool is_silent : {false, true}) {
        JobMeter small(100), large;
        for (JobMeter *const one : {&small, &large}) {
            add_processes(*one);
            one->clock(0, 0, 100 * s);
            one->clock(1, 0, 100 * s);
            // GPU 1 passes its turns on later than GPU 0, or has none.
            for (std::uint64_t n = 0; n < 1'000; n += 20) {
                for (std::uint64_t k = n; k < n + 20; k++)
                    one->turn(0, turn(0, k * ms, k * ms + 500 * us));
                for (std::uint64_t k = n; k < n + 20 && !(is_silent && n > 0); k++)
                    one->turn(1, turn(1, k * ms + 100 * us, k * ms + 600 * us));
            }
        }
        const auto part = small.take(), whole = large.take();
        ASSERT_EQ(part.size(), 1U);
        EXPECT_EQ(part[0].times->together_ns(), whole[0].times->together_ns());
        EXPECT_EQ(whole[0].times->together_ns(), (is_silent ? 20 : 1'000) * 400 * us);
        EXPECT_DOUBLE_EQ(*part[0].times->together(), *whole[0].times->together());
        EXPECT_EQ(whole[0].times->skews().quantile(0.5), 100 * us);
    }
}

TEST_F(TwoGpus, TurnsOfUnknownProcessesBelongToNoJob) {
    meter.clock(0, 0, 100 * s);
    meter.clock(1, 0, 100 * s);
    for (const std::uint32_t gpu : {0U, 1U}) {
        meter.turn(gpu, {{.pid = 0}, 0, ms, true, {}});
        meter.turn(gpu, {{}, 0, ms, true, {}});
    }
    EXPECT_TRUE(meter.take().empty());
}

} // namespace
} // namespace nvdebug
