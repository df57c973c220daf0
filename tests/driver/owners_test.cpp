// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds the process that made each channel, over the stand-in for NVIDIA's driver.
#include "bench.hpp"
#include "tests/support/sections.hpp"

#include "lib/driver/machine.hpp"
#include "lib/nvdebug/capture.hpp"
#include "lib/nvdebug/driver_tree.hpp"
#include "nvdebug/capture.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/parse.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <set>
#include <sstream>
#include <unistd.h>

namespace driver_test {
namespace {

using nvdebug::ErrorCode;
using nvdebug::Tree;
namespace fs = std::filesystem;

/// Returns the instance blocks of a list's channels, in the list's order.
std::vector<std::uint64_t> instances_of(const nvdebug::Runlist &list) {
    std::vector<std::uint64_t> found;
    for (const auto &listed : nvdebug::channels_of(list))
        found.push_back(listed.channel->instance_place.address.value());
    return found;
}

class Ownership : public Driver {
  protected:
    /// Process 557 made the first two channels of runlist 0, 558 the next ones, and no process the
    /// last one.
    Ownership() : gpu(bench.tree(), 0), list(gpu.runlist(0, nvdebug::Detail::brief).value()) {
        const std::vector<std::uint64_t> all = instances_of(list);
        EXPECT_GE(all.size(), 4U);
        firsts.assign(all.begin(), all.begin() + 2);
        nexts.assign(all.begin() + 2, all.end() - 1);
        first = kernel.add_process(557, firsts);
        second = kernel.add_process(558, nexts);
        kernel.processes[557].command = "a b\\c\n";
        kernel.processes[557].cgroup = "12:pids:/docker/" + id + "\n0::/init\n";
        kernel.processes[557].started = 10;
        kernel.processes[558].started = 20;
        kernel.processes[558].status = "Name:\tUid:\nUid:\t7\tx\n";
    }

    /// Returns the pids of the channels' owners in the list's order; 0: no owner.
    [[nodiscard]] std::vector<std::uint32_t> pids(const nvdebug::Owners &owners) const {
        std::vector<std::uint32_t> found;
        for (const auto &listed : nvdebug::channels_of(list)) {
            const nvdebug::Process *const process = nvdebug::owner_of(owners, *listed.channel);
            found.push_back(process ? process->pid : 0);
        }
        return found;
    }

    [[nodiscard]] std::vector<std::uint32_t> expected(std::uint32_t one,
                                                      std::uint32_t other) const {
        std::vector<std::uint32_t> all(firsts.size(), one);
        all.insert(all.end(), nexts.size(), other);
        all.push_back(0);
        return all;
    }

    const std::string id = std::string(32, '3') + std::string(32, 'f');
    const nvdebug::Gpu gpu;
    const nvdebug::Runlist list;
    std::vector<std::uint64_t> firsts, nexts;
    std::uint32_t first = 0, second = 0; // clients of 557 and 558
};

TEST_F(Ownership, IsFoundByTheInstanceBlock) {
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners) << owners.error().sentence;
    EXPECT_EQ(pids(*owners), expected(557, 558));
    ASSERT_EQ(owners->processes.size(), 2U);
    const nvdebug::Process &process = owners->processes.front();
    EXPECT_EQ(process.command, "a b\\c");
    EXPECT_EQ(process.cgroup, "/docker/" + id);
    EXPECT_EQ(process.uid, 8U);
    EXPECT_EQ(owners->processes.back().uid, std::nullopt);
    EXPECT_EQ(nvdebug::container_of(process), id);
    EXPECT_EQ(nvdebug::container_of(owners->processes.back()), std::nullopt);
    EXPECT_EQ(owners->channels.front().client, first);
    EXPECT_EQ(owners->channels.front().timeslice_ns, 2'048'000U);
    EXPECT_EQ(owners->hidden + owners->denied + owners->ended + owners->refused, 0U);
}

/// The name of the TSG is behind a gap, so the search by name does not find it.
TEST_F(Ownership, FindsASkippedTsgThroughItsChannel) {
    StandIn::Objects &objects = kernel.others[first];
    const auto tsg = std::ranges::find_if(
        objects, [](const auto &object) { return object.second.object_class == rm::class_tsg; });
    ASSERT_NE(tsg, objects.end());
    constexpr std::uint32_t far = rm::first_object_of_cuda + 5000;
    for (auto &[name, object] : objects)
        if (object.parent == tsg->first)
            object.parent = far;
    objects[far] = tsg->second;
    objects.erase(tsg);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(557, 558));
    EXPECT_EQ(owners->channels.front().tsg, far);
}

TEST_F(Ownership, SeveralThreadsReadOwnersAndLists) {
    const auto read_list = [gpu = gpu] { return gpu.runlist(0, nvdebug::Detail::brief); };
    for (int turn = 0; turn < 20; turn++) {
        auto owners = std::async(std::launch::async, [gpu = gpu] { return gpu.owners(); });
        auto other = std::async(std::launch::async, read_list);
        EXPECT_EQ(instances_of(read_list().value()), instances_of(list));
        EXPECT_EQ(instances_of(other.get().value()), instances_of(list));
        EXPECT_EQ(pids(owners.get().value()), expected(557, 558));
    }
}

TEST_F(Ownership, AsksFewQuestions) {
    ASSERT_TRUE(gpu.owners());
    EXPECT_LE(kernel.questions, 2U * 330);
}

/// A process that has freed many objects leaves a gap in the names. Other objects follow behind it.
TEST_F(Ownership, IsFoundBehindAGapInNames) {
    const StandIn::Objects before = kernel.others[first];
    for (std::uint32_t gap = 900; gap < 904; gap++) {
        StandIn::Objects moved;
        for (const auto &[name, object] : before) {
            const auto shifted = [&](std::uint32_t of) { return of < first ? of + gap : of; };
            moved[shifted(name)] = object;
            moved[shifted(name)].parent = shifted(object.parent);
        }
        const std::uint32_t last = std::prev(moved.lower_bound(first))->first;
        for (std::uint32_t name = moved.begin()->first; name < last; name++)
            moved.try_emplace(name, StandIn::Object{first, 0x3e});
        kernel.others[first] = moved;
        const auto owners = gpu.owners();
        ASSERT_TRUE(owners);
        EXPECT_EQ(pids(*owners), expected(557, 558)) << gap;
    }
}

TEST_F(Ownership, GivesAClientToTheOldestProcess) {
    kernel.processes[556] = kernel.processes[557]; // a child with its parent's descriptors
    kernel.processes[556].started = 11;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(557, 558));
    EXPECT_EQ(owners->processes.size(), 3U);
}

TEST_F(Ownership, IsEmptyIfTwoProcessesClaimAChannel) {
    kernel.add_process(600, firsts);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(0, 558));
}

TEST_F(Ownership, IgnoresChannelsOfOtherGpus) {
    for (auto &[name, object] : kernel.others[first])
        object.gpu_id = 99;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(0, 558));
}

TEST_F(Ownership, ShowsOwnProcessesWithoutRoot) {
    kernel.root = false;
    kernel.processes[558].hidden = true;
    const nvdebug::Gpu seen(bench.tree(), 0);
    const auto owners = seen.owners();
    ASSERT_TRUE(owners) << owners.error().sentence;
    ASSERT_EQ(owners->channels.size(), firsts.size());
    EXPECT_EQ(owners->channels.front().timeslice_ns, 2'048'000U);
    EXPECT_EQ(owners->channels.front().instance_place.address, std::nullopt);
    EXPECT_EQ(owners->hidden, 1U);
    EXPECT_EQ(owners->refused, 0U);
    EXPECT_EQ(pids(*owners), expected(0, 0));
}

TEST_F(Ownership, ShowsTheLauncherOfAProcess) {
    for (const auto &[command, parent, launcher] :
         {std::tuple<const char *, std::uint32_t, std::optional<std::uint32_t>>{"torchrun", 70,
                                                                                70U},
          {"python3", 70, 70U},
          {"hydra_pmi_proxy", 70, 70U},
          {"shard", 70, 70U}, // begins as a shell's name
          {"bash", 70, {}},
          {"sh", 70, {}},
          {"sum", 70, 70U}, // begins as the name of su
          {"slurm_script", 70, {}},
          {"tmux: server", 70, {}},
          {"jupyter-noteboo", 70, {}},
          {"systemd", 70, {}},
          {"python3", 1, {}},
          {"python3", 0, {}},
          {"python3", 71, {}}}) { // it has ended, or is hidden
        kernel.processes[70] = {.command = command, .uses_gpu = false};
        kernel.processes[557].parent = parent;
        const auto owners = gpu.owners();
        ASSERT_TRUE(owners);
        const auto process = std::ranges::find(owners->processes, 557U, &nvdebug::Process::pid);
        ASSERT_NE(process, owners->processes.end());
        EXPECT_EQ(process->launcher, launcher) << command << parent;
    }
}

TEST_F(Ownership, CountsProcessesThatMayNotBeQueried) {
    kernel.processes[557].denied = true;
    kernel.processes[700].uses_gpu = false;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(owners->denied, 1U);
    EXPECT_EQ(pids(*owners), expected(0, 558));
    EXPECT_EQ(owners->processes.size(), 2U) << "that it uses the GPU is known all the same";
}

TEST_F(Ownership, SurvivesTheEndOfAProcessAtEachQuery) {
    const StandIn::Process process = kernel.processes[557];
    const StandIn::Objects objects = kernel.others[first];
    const std::size_t open = kernel.open_files();
    ASSERT_TRUE(gpu.owners());
    const std::uint64_t all = kernel.questions;
    for (std::uint64_t n = 1; n < all; n += n < 20 ? 1 : 97) {
        kernel.questions = 0;
        kernel.before_question = [&] {
            if (kernel.questions != n)
                return;
            kernel.processes.erase(557);
            kernel.others.erase(first);
        };
        const auto owners = gpu.owners();
        ASSERT_TRUE(owners) << owners.error().sentence;
        std::vector<std::uint32_t> found = pids(*owners);
        std::ranges::replace(found, 557U, 0U);
        EXPECT_EQ(found, expected(0, 558)) << "at question " << n;
        EXPECT_LE(owners->ended, 1U);
        EXPECT_EQ(kernel.open_files(), open);
        // The driver logs queries to a client that has ended. Only the query during which it ended,
        // and the one after it, may be among them.
        EXPECT_LE(kernel.wrongs.size(), 1U) << "at question " << n;
        kernel.wrongs.clear();
        kernel.processes[557] = process;
        kernel.others[first] = objects;
    }
    kernel.before_question = nullptr;
}

TEST_F(Ownership, CountsAProcessThatEndsBeforeItsQuery) {
    // Another process has the number by then.
    kernel.before_take = [&] { kernel.processes[557].started = 999; };
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(owners->ended, 1U);
    EXPECT_EQ(owners->processes.size(), 1U);
    EXPECT_EQ(pids(*owners), expected(0, 558));
}

TEST_F(Ownership, SurvivesAFailureOfEachQuery) {
    const std::size_t open = kernel.open_files();
    kernel.ioctls = 0;
    ASSERT_TRUE(gpu.owners());
    const std::uint64_t calls = kernel.ioctls;
    for (std::uint64_t n = 1; n <= calls; n += n < 60 ? 1 : 89) {
        kernel.ioctls = 0;
        kernel.fail = n % 2 ? n : 0;
        kernel.fail_with = n % 3 ? EIO : EINVAL;
        kernel.deny = n % 2 ? 0 : n;
        kernel.deny_with = n % 4 ? rm::not_supported : rm::invalid_client;
        const auto owners = gpu.owners();
        if (!owners) {
            EXPECT_NE(owners.error().sentence, "");
        }
        EXPECT_EQ(kernel.open_files(), open) << "at call " << n;
    }
    kernel.fail = kernel.deny = 0;
}

TEST_F(Ownership, SurvivesRandomObjects) {
    std::mt19937 random(3); // NOLINT: the same each time
    const std::size_t open = kernel.open_files();
    const auto client = kernel.others[first];
    for (int round = 0; round < 40; round++) {
        for (auto &[name, object] : kernel.others[first]) {
            object = client.at(name);
            if (random() % 3)
                continue;
            object.parent = random() % 2 ? name : static_cast<std::uint32_t>(random());
            object.object_class = random() % 2 ? object.object_class : random();
            object.timeslice_us = random();
            object.instance = {static_cast<std::uint32_t>(random() % 6), random(), random()};
        }
        kernel.processes[557].command = std::string(random() % 16, static_cast<char>(random()));
        kernel.processes[557].cgroup = random() % 2 ? "no line\n" : "::\n";
        kernel.processes[557].status = random() % 2 ? "\nUid:" : "\nUid:\t\t-1\t\n";
        const auto owners = gpu.owners();
        ASSERT_TRUE(owners) << owners.error().sentence;
        const auto found = pids(*owners);
        EXPECT_EQ(found.back(), 0U);
        EXPECT_EQ(kernel.open_files(), open);
    }
}

TEST_F(Ownership, LeavesASleepingGpuAlone) {
    kernel.files["/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"] = "suspended\n";
    const auto owners = nvdebug::Gpu(bench.tree(), 0).owners();
    ASSERT_FALSE(owners);
    EXPECT_EQ(owners.error().code, ErrorCode::gone);
    EXPECT_EQ(kernel.questions, 0U);
}

TEST_F(Ownership, IsInCaptures) {
    const fs::path file =
        fs::temp_directory_path() / ("nvdebug-owners-" + std::to_string(getpid()));
    ASSERT_TRUE(nvdebug::write_capture(gpu.tree(), {}, file));
    const auto capture = Tree::capture(file);
    fs::remove(file);
    ASSERT_TRUE(capture) << capture.error().sentence;
    const auto owners = nvdebug::Gpu(*capture, 0).owners();
    ASSERT_TRUE(owners) << owners.error().sentence;
    EXPECT_EQ(pids(*owners), expected(557, 558));
}

} // namespace
} // namespace driver_test
