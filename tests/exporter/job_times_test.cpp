// SPDX-License-Identifier: MIT OR GPL-2.0
// Jobs on several GPUs as the exporter sees them, over the stand-in for NVIDIA's driver.
#include "tools/exporter/job_times.hpp"

#include "bench.hpp"
#include "tests/support/waiting.hpp"

#include <algorithm>

namespace nvdebug::exporter {
namespace {

using namespace std::chrono_literals;

/// Two ranks, which torchrun started, each on a GPU.
class JobOnTwoGpus : public ::testing::Test {
  protected:
    JobOnTwoGpus() {
        kernel.clock = [] {
            return static_cast<std::uint64_t>(
                std::chrono::nanoseconds(Meter::Clock::now().time_since_epoch()).count());
        };
        kernel.add_card(1, 2);
        kernel.processes[70] = {.command = "torchrun", .uses_gpu = false};
        for (const std::uint32_t n : {0U, 1U}) {
            kernel.add_process(71 + n, {});
            kernel.processes[71 + n].parent = 70;
            kernel.processes[71 + n].gpu = n;
            meters.push_back(std::make_shared<Meter>(
                Gpu(bench.tree(), n), driver_test::plenty,
                Meter::Limits{.tasks = 8, .shortest_look = 0ms, .own_look = 0s}));
        }
    }

    /// Adds a turn far behind the present, beside which the time between two readings of a clock is
    /// nothing.
    void add_turn(std::uint32_t gpu, std::uint64_t begin_s, std::uint64_t end_s) {
        const std::uint64_t now = kernel.clock();
        for (const bool starts : {true, false}) {
            driver_test::rm::SwitchRecord record{};
            record.tag = starts ? driver_test::rm::SwitchRecord::starts
                                : driver_test::rm::SwitchRecord::ends;
            record.pid = record.context = 71 + gpu;
            record.ns = now + (starts ? begin_s : end_s) * 1'000'000'000;
            (gpu == 0 ? kernel.switches : kernel.more_switches[kernel.cards[gpu].gpu_id])
                .push_back(record);
        }
    }

    /// Makes a step, as the exporter does. Returns what is shown of each GPU's rank.
    std::vector<std::optional<double>> step(JobTimesOfNode &jobs) {
        for (const auto &meter : meters)
            meter->step();
        jobs.step(meters);
        std::vector<std::optional<double>> shown;
        for (const auto &meter : meters) {
            Facts facts = meter->facts();
            jobs.add_to(facts);
            const auto task =
                std::ranges::find(facts.tasks, std::optional(71 + facts.gpu), &TaskFacts::pid);
            shown.push_back(task == facts.tasks.end() ? std::nullopt : task->together);
        }
        return shown;
    }

    driver_test::Bench bench{"h200", "fig7"};
    driver_test::StandIn &kernel = *bench.kernel;
    std::vector<std::shared_ptr<Meter>> meters;
};

TEST_F(JobOnTwoGpus, ShowsTogetherOfItsRanks) {
    JobTimesOfNode jobs(0ms);
    EXPECT_FALSE(step(jobs)[0]);
    add_turn(0, 1'000, 2'000);
    add_turn(1, 1'800, 2'800);
    // The first step shows the processes, whose launcher a look reads.
    step(jobs);
    add_turn(0, 11'000, 12'000);
    add_turn(1, 11'800, 12'800);
    const auto shown = step(jobs);
    ASSERT_TRUE(shown[0] && shown[1]);
    EXPECT_NEAR(*shown[0], 0.2, 0.01);
    EXPECT_EQ(shown[0], shown[1]);
    EXPECT_FALSE(step(jobs)[0]) << "it had no turns in the last time";
}

TEST_F(JobOnTwoGpus, ShowsNothingOfSeparateProcesses) {
    kernel.processes[70].command = "bash";
    JobTimesOfNode jobs(0ms);
    step(jobs);
    for (const std::uint64_t at : {1'000U, 11'000U}) {
        add_turn(0, at, at + 1'000);
        add_turn(1, at + 800, at + 1'800);
        EXPECT_FALSE(step(jobs)[0]);
    }
}

TEST_F(JobOnTwoGpus, IsShownAfterAWholeTime) {
    JobTimesOfNode jobs(std::chrono::hours(1));
    step(jobs);
    for (const std::uint64_t at : {1'000U, 11'000U}) {
        add_turn(0, at, at + 1'000);
        add_turn(1, at, at + 1'000);
        EXPECT_FALSE(step(jobs)[0]);
    }
}

} // namespace
} // namespace nvdebug::exporter
