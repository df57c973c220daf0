// SPDX-License-Identifier: MIT OR GPL-2.0
// Queries several GPUs at once, over the stand-in for NVIDIA's driver.
#include "eight_gpus.hpp"

#include "cli/json.hpp"
#include "cli/side_by_side.hpp"
#include "nvdebug/answers.hpp"
#include "state/gpu_tasks.hpp"

#include <cerrno>
#include <future>
#include <map>
#include <new>

namespace driver_test {
namespace {

using nvdebug::Gpu;
using nvdebugctl::GpuTasks;
using nvdebugctl::Json;
using nvdebugctl::SideBySide;

TEST_F(EightGpus, AreAskedAtOnce) {
    Together together(gpus.size());
    kernel.before_ioctl = [&] { together.wait(); };
    SideBySide all(gpus, plenty);
    const auto answers = all.ask([](const Gpu &gpu) { return gpu.info(); });
    kernel.before_ioctl = nullptr;
    EXPECT_FALSE(together.gave_up()) << "only " << together.most() << " were asked at once";
    for (const auto &info : answers) {
        ASSERT_TRUE(info) << info.error().sentence;
        EXPECT_EQ(info->chip, "GH100");
    }
    EXPECT_FALSE(all.any_hangs());
}

TEST_F(EightGpus, OneThatHangsKeepsNoOtherWaiting) {
    constexpr std::uint32_t dead = 3;
    static thread_local std::uint32_t asked = ~0U;
    const auto now = [](const Gpu &gpu) {
        asked = gpu.index();
        return gpu.ptimer_ns();
    };
    {
        SideBySide all(gpus, plenty);
        for (const auto &ns : all.ask(now))
            ASSERT_TRUE(ns) << ns.error().sentence;
    }
    std::promise<void> lives;
    kernel.before_ioctl = [until = lives.get_future().share()] {
        if (asked == dead)
            until.wait();
    };
    SideBySide all(gpus, 2s);
    for (int round = 0; round < 2; round++) {
        const auto answers = all.ask(now);
        ASSERT_EQ(answers.size(), gpus.size());
        for (std::uint32_t n = 0; n < gpus.size(); n++) {
            ASSERT_EQ(answers[n].has_value(), n != dead) << n;
            if (n == dead) {
                EXPECT_EQ(answers[n].error().code, nvdebug::ErrorCode::timeout);
                EXPECT_NE(answers[n].error().sentence.find("gpu3 did not answer within 2 s"),
                          std::string::npos)
                    << answers[n].error().sentence;
            }
        }
        EXPECT_TRUE(all.any_hangs());
    }
    lives.set_value();
}

TEST_F(EightGpus, AnErrorIsOfItsGpuAlone) {
    SideBySide all(gpus, plenty);
    const auto answers = all.ask([](const Gpu &gpu) -> nvdebug::Result<std::uint32_t> {
        if (gpu.index() == 5)
            return tl::unexpected(nvdebug::Error{nvdebug::ErrorCode::gone, ENODEV, "", "gone"});
        return gpu.index();
    });
    for (std::uint32_t n = 0; n < gpus.size(); n++)
        EXPECT_EQ(answers[n].has_value(), n != 5);
    EXPECT_EQ(answers[7], 7U);
    EXPECT_THROW(all.ask([](const Gpu &) -> nvdebug::Result<int> { throw std::bad_alloc(); }),
                 std::bad_alloc);
}

// --- the tasks of each GPU ---

class Competing : public EightGpus {
  protected:
    Competing() {
        const nvdebug::Runlist list = gpus[0].runlist(0).value();
        for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(list))
            instances[tsg.id] = *tsg.headers.front()->channels.front().instance_place.address;
    }
    static GpuTasks tasks_of(const Gpu &gpu) {
        auto tasks = nvdebugctl::read_gpu_tasks(gpu);
        EXPECT_TRUE(tasks) << tasks.error().sentence;
        EXPECT_TRUE(tasks->errors.empty());
        return std::move(*tasks);
    }
    static double share(const Json &task) { return task["expected_share_percent"]; }

    std::map<std::uint32_t, std::uint64_t> instances; ///< an instance block of each TSG of GR0
};

TEST_F(Competing, TasksHaveTheSharesOfTheirTsgs) {
    ASSERT_GE(instances.size(), 3U);
    const auto [first, at] = *instances.begin();
    kernel.add_process(4711, {at});
    kernel.processes[4711].cgroup = "0::/system.slice/slurmstepd.scope/job_17/step_0\n";
    const Json tasks = tasks_of(gpus[0]).tasks;
    ASSERT_EQ(tasks.size(), instances.size());
    std::map<std::string, double> expected;
    for (const auto &one : nvdebug::expected_shares(gpus[0].runlist(0).value()))
        expected["0:" + std::to_string(one.tsg)] = *one.share * 100;
    double sum = 0, before = 100;
    for (const Json &task : tasks) {
        ASSERT_EQ(task["tsgs"].size(), 1U);
        EXPECT_NEAR(share(task), expected.at(task["tsgs"][0]), 0.001);
        EXPECT_LE(share(task), before) << "the largest first";
        before = share(task);
        sum += before;
        if (task["tsgs"][0] == "0:" + std::to_string(first)) {
            ASSERT_EQ(task["processes"].size(), 1U);
            EXPECT_EQ(task["processes"][0]["pid"], 4711);
            EXPECT_EQ(task["processes"][0]["job"], "17");
        } else {
            EXPECT_TRUE(task["processes"].empty());
        }
    }
    EXPECT_NEAR(sum, 100, 0.01);
}

TEST_F(Competing, ProcessesThatShareATsgAreOneTask) {
    const auto first = instances.begin(), second = std::next(first);
    // The third process's channel is on no list.
    for (const std::uint32_t pid : {4711U, 4712U})
        kernel.add_process(pid, {pid == 4711 ? first->second : second->second});
    kernel.add_process(4713, {0x7654000});
    Json tasks = tasks_of(gpus[0]).tasks;
    EXPECT_EQ(tasks.size(), instances.size() + 1);
    EXPECT_EQ(tasks.back()["processes"][0]["pid"], 4713);
    EXPECT_TRUE(tasks.back()["expected_share_percent"].is_null());
    const nvdebug::Runlist list = gpus[0].runlist(0).value();
    const nvdebug::ListedTsg shared = nvdebug::tsgs_of(list).front();
    const auto &channels = shared.headers.front()->channels;
    ASSERT_GE(channels.size(), 2U) << "the workload's first TSG has several channels";
    kernel.processes.clear();
    kernel.add_process(4714, {*channels[0].instance_place.address});
    kernel.add_process(4715, {*channels[1].instance_place.address});
    tasks = tasks_of(gpus[0]).tasks;
    EXPECT_EQ(tasks.size(), instances.size());
    std::size_t together = 0;
    for (const Json &task : tasks)
        together += task["processes"].size() == 2;
    EXPECT_EQ(together, 1U);
}

TEST_F(Competing, ListsOnlyProcessesWithoutRoot) {
    kernel.root = false;
    kernel.add_process(4711, {instances.begin()->second});
    const auto opened = nvdebug::driver::open_tree(bench.kernel, {});
    const GpuTasks found = tasks_of(Gpu(nvdebug::Tree(*opened), 0));
    ASSERT_EQ(found.tasks.size(), 1U);
    EXPECT_EQ(found.tasks[0]["processes"][0]["pid"], 4711);
    EXPECT_TRUE(found.tasks[0]["expected_share_percent"].is_null());
    EXPECT_EQ(found.notes.size(), 1U) << "that shares are for root";
}

} // namespace
} // namespace driver_test
