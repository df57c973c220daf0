// SPDX-License-Identifier: MIT OR GPL-2.0
// Replays the words that real GPUs returned (tests/hardware) through the present core.
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

using nvdebug::Tree;

class Hardware : public testing::TestWithParam<std::string> {};

/// Makes each file of a capture again from its words, and compares the texts.
TEST_P(Hardware, ReplaysTheSameTexts) {
    const auto capture = Tree::capture(hardware / GetParam());
    ASSERT_TRUE(capture) << capture.error().sentence;
    const auto words = capture->impl().words();
    const auto files = capture->list("gpu0");
    ASSERT_TRUE(files);
    std::size_t compared = 0;
    for (const std::string &file : *files) {
        // The words do not have the GPU's attachment and its processes.
        if (file == "info" || file == "owners")
            continue;
        const auto then = capture->read("gpu0/" + file);
        const auto now = nvdebug::driver::replay(words, "gpu0", file);
        EXPECT_EQ(static_cast<bool>(then), static_cast<bool>(now)) << file;
        if (then && now) {
            EXPECT_EQ(*now, *then) << file;
            compared++;
        }
    }
    EXPECT_GT(compared, 90U);
}

std::vector<std::string> captures() {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(hardware))
        if (entry.path().filename().string().starts_with("capture"))
            names.push_back(entry.path().lexically_relative(hardware).string());
    std::ranges::sort(names);
    return names;
}

INSTANTIATE_TEST_SUITE_P(All, Hardware, testing::ValuesIn(captures()), [](const auto &name) {
    std::string word = name.param;
    std::ranges::replace_if(
        word, [](char c) { return !std::isalnum(c); }, '_');
    return word;
});

TEST(Captures, AreOfEveryKindOfLoad) {
    for (const std::string card : {"h100", "h200"})
        for (const char *const load : {"capture", "capture-idle", "capture-copies", "capture-mps"})
            EXPECT_TRUE(std::ranges::count(captures(), card + "-580.159.04/" + load)) << load;
}

/// Two CUDA processes ran on an H100. The remaining channels are the driver's own.
TEST(HardwareOwners, AreTheProcessesThatRan) {
    const auto capture = Tree::capture(hardware / "h100-580.159.04" / "capture-owners");
    ASSERT_TRUE(capture) << capture.error().sentence;
    const nvdebug::Gpu gpu(*capture, 0);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners) << owners.error().sentence;
    ASSERT_EQ(owners->processes.size(), 2U);
    std::map<std::uint32_t, std::size_t> channels; // by pid; 0: no process
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> of_tsg;
    const auto info = gpu.info();
    ASSERT_TRUE(info) << info.error().sentence;
    for (const std::uint32_t id : info->runlists) {
        const auto list = gpu.runlist(id);
        ASSERT_TRUE(list) << list.error().sentence;
        for (const auto &listed : nvdebug::channels_of(*list)) {
            const nvdebug::Process *const owner = nvdebug::owner_of(*owners, *listed.channel);
            channels[owner ? owner->pid : 0]++;
            of_tsg[{id, listed.tsg->id}].insert(owner ? owner->pid : 0);
        }
    }
    EXPECT_EQ(channels, (std::map<std::uint32_t, std::size_t>{{0, 10}, {1456, 20}, {1462, 20}}));
    for (const auto &[tsg, pids] : of_tsg)
        EXPECT_EQ(pids.size(), 1U) << "TSG " << tsg.first << ":" << tsg.second;
}

/// Three clients and the server ran on an H200. All share one TSG, and each channel belongs to its
/// client.
TEST(HardwareOwners, ClientsOfMpsOwnTheirChannels) {
    const auto capture = Tree::capture(hardware / "h200-580.159.04" / "capture-mps");
    ASSERT_TRUE(capture) << capture.error().sentence;
    const nvdebug::Gpu gpu(*capture, 0);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners) << owners.error().sentence;
    const auto list = gpu.runlist(0);
    ASSERT_TRUE(list) << list.error().sentence;
    std::map<std::uint32_t, std::set<std::string>> who; // by TSG
    std::map<std::uint32_t, std::size_t> channels;
    for (const auto &listed : nvdebug::channels_of(*list)) {
        const nvdebug::Process *const owner = nvdebug::owner_of(*owners, *listed.channel);
        if (owner)
            who[listed.tsg->id].insert(*owner->command + std::to_string(owner->pid));
        channels[listed.tsg->id]++;
    }
    EXPECT_EQ(who, (std::map<std::uint32_t, std::set<std::string>>{
                       {7, {"nvidia-cuda-mps533", "workload527", "workload528", "workload529"}}}));
    EXPECT_EQ(channels, (std::map<std::uint32_t, std::size_t>{{3, 1}, {7, 7}}));
}

TEST(Record, RefusesMalformedLines) {
    for (const char *const text : {"x", "1 2 3", "1:", "1: 2", "4: x", "4 ", "4", "4: 5 x"}) {
        nvdebug::driver::RecordedWords words;
        EXPECT_FALSE(words.add(text)) << text;
    }
}

/// Queries for addresses without a record do not make the record larger.
TEST(Record, DoesNotGrow) {
    nvdebug::driver::RecordedWords words;
    ASSERT_TRUE(words.add("4: 5\n"));
    const std::size_t before = mallinfo2().uordblks;
    std::uint32_t value = 0;
    for (std::uint32_t offset = 8; offset < 0x10000; offset += 4) {
        ASSERT_TRUE(words.registers(std::span(&offset, 1), std::span(&value, 1)));
        ASSERT_EQ(value, ~std::uint32_t{0});
    }
    EXPECT_LE(mallinfo2().uordblks, before + 4096);
}

} // namespace
} // namespace driver_test
