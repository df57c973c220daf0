// SPDX-License-Identifier: MIT OR GPL-2.0
// Measures jobs that share GPUs, over the stand-in for NVIDIA's driver.
#include "eight_gpus.hpp"

#include "state/shared_jobs.hpp"

#include <algorithm>

namespace driver_test {
namespace {

using nvdebugctl::measure_shared_jobs;

/// Two jobs of two ranks, which mpirun started, on the first two GPUs.
class TwoSharedGpus : public EightGpus {
  protected:
    TwoSharedGpus() {
        kernel.clock = [] {
            return static_cast<std::uint64_t>(
                std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch())
                    .count());
        };
        for (const std::uint32_t launcher : {100U, 200U}) {
            kernel.processes[launcher] = {.command = "mpirun", .uses_gpu = false};
            for (const std::uint32_t n : {0U, 1U}) {
                const std::uint32_t client =
                    kernel.add_process(launcher + 1 + n, {0x1000U * (launcher + n)});
                kernel.processes[launcher + 1 + n].parent = launcher;
                kernel.processes[launcher + 1 + n].gpu = n;
                for (auto &[name, object] : kernel.others[client])
                    object.gpu_id = kernel.cards[n].gpu_id;
            }
        }
        gpus.erase(gpus.begin() + 2, gpus.end());
    }

    /// Adds a turn of 1,000 s, beside which the time between two readings of a clock is nothing.
    void add_turn(std::size_t gpu, std::uint32_t pid, std::uint64_t begin_s) {
        const std::uint64_t now = kernel.clock();
        for (const bool starts : {true, false}) {
            rm::SwitchRecord record{};
            record.tag = starts ? rm::SwitchRecord::starts : rm::SwitchRecord::ends;
            record.pid = record.context = pid;
            record.ns = now + (begin_s + (starts ? 0 : 1'000)) * 1'000'000'000;
            (gpu == 0 ? kernel.switches : kernel.more_switches[kernel.cards[gpu].gpu_id])
                .push_back(record);
        }
    }
};

TEST_F(TwoSharedGpus, AreMeasuredByTheRecordOfSwitches) {
    kernel.before_flush = [this, done = false]() mutable {
        if (std::exchange(done, true))
            return;
        add_turn(0, 101, 10'000);
        add_turn(1, 102, 10'500);
        add_turn(0, 201, 11'500);
        add_turn(1, 202, 11'500);
    };
    const auto jobs = measure_shared_jobs(gpus, 1ms);
    kernel.before_flush = nullptr;
    ASSERT_EQ(jobs.size(), 2U);
    for (const auto &job : jobs) {
        ASSERT_TRUE(job.times && job.times->together());
        EXPECT_NEAR(*job.times->together(), job.processes[0].process.pid == 101 ? 0.5 : 1, 0.01);
    }
}

TEST_F(TwoSharedGpus, AreNotRecordedForOneJob) {
    for (const std::uint32_t pid : {201U, 202U})
        kernel.end_process(pid);
    bool recorded = false;
    kernel.before_flush = [&] { recorded = true; };
    EXPECT_TRUE(measure_shared_jobs(gpus, 1ms).empty());
    EXPECT_TRUE(measure_shared_jobs({gpus[0]}, 1ms).empty());
    kernel.before_flush = nullptr;
    EXPECT_FALSE(recorded);
}

} // namespace
} // namespace driver_test
