// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tools/bridge/bridged_gpu.hpp"
#include "tools/bridge/requests.hpp"
#include "tools/bridge/source.hpp"

#include "stand_in.hpp"

#include "base/error.hpp"
#include "lib/nvdebug/tree_impl.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace nvdebug::bridge {
namespace {

using nvmodel::Bar;
using Json = nlohmann::json;
namespace fs = std::filesystem;

const std::string h100 = std::string(HARDWARE) + "/h100-580.159.04/capture";
constexpr std::uint32_t window = 0x10fd40, pramin = 0x700000, nothing = 0xbadf5040,
                        no_memory = 0xbad0fb00;

std::string refusal(const std::function<void()> &call) {
    try {
        call();
    } catch (const nvmodel::ConfigError &error) {
        return error.what();
    }
    return "";
}

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

class Bridge : public testing::Test {
  protected:
    explicit Bridge(Source source = open_capture(h100)) : gpu(std::move(source)), requests(gpu) {}

    std::uint64_t read(std::uint64_t offset, unsigned size = 4) {
        return gpu.bar_read(Bar::registers, offset, size);
    }
    void write(std::uint64_t offset, std::uint32_t value) {
        gpu.bar_write(Bar::registers, offset, value, 4);
    }
    std::uint64_t memory(std::uint64_t address) {
        write(window, static_cast<std::uint32_t>(address >> 16));
        return read(pramin + (address & 0xffff));
    }
    Json ask(const std::string &line) { return Json::parse(requests.answer(line)); }

    BridgedGpu gpu;
    Requests requests;
};

TEST_F(Bridge, HasThePciIdentityOfTheGpu) {
    EXPECT_EQ(gpu.config_read(0x00, 4), 0x233010deU);
    EXPECT_EQ(gpu.config_read(0x08, 4), 0x030200a1U);
    EXPECT_EQ(gpu.config_read(0x2c, 4), 0x16c110deU);
    for (const unsigned bar : {0x10U, 0x14U, 0x18U, 0x1cU, 0x20U, 0x24U}) {
        gpu.config_write(bar, 0xffffffff, 4);
        EXPECT_EQ(gpu.config_read(bar, 4), bar == 0x10 ? 0xff000000U : 0U);
    }
}

TEST_F(Bridge, AnswersWithRecordedWords) {
    EXPECT_EQ(read(0), 0x180000a1U);
    EXPECT_EQ(read(0x224fc), 0x08630312U);
    EXPECT_EQ(read(0x22800, 8), 0xc040000c80000180U);
    EXPECT_EQ(read(0x22802, 2), 0x8000U);
    EXPECT_EQ(read(0x22803, 1), 0x80U);
    EXPECT_TRUE(gpu.refusals().registers.empty());
}

TEST_F(Bridge, CountsWordsThatTheCaptureLacks) {
    EXPECT_EQ(read(0x123454), nothing);
    EXPECT_EQ(read(0x123454), nothing);
    EXPECT_EQ(memory(0x1234560000), no_memory);
    EXPECT_EQ(gpu.refusals().registers, (std::map<std::uint64_t, std::uint64_t>{{0x123454, 2}}));
    EXPECT_EQ(gpu.refusals().memory.begin()->first, 0x1234560000U);
    EXPECT_TRUE(has(gpu.report(), "registers: 1 (0x123454), words of memory: 1 (0x1234560000)"))
        << gpu.report();
}

TEST_F(Bridge, ShowsMemoryThroughItsOwnWindow) {
    EXPECT_EQ(memory(0x13db8a0000), 0x80030001U);
    EXPECT_EQ(read(window), 0x13db8aU);
    write(window, 0xff13db8a); // the register has 22 bits
    EXPECT_EQ(read(window), 0x13db8aU);
    EXPECT_EQ(read(pramin + 0x10, 8), 0x13d8630000ULL);
    EXPECT_TRUE(gpu.refusals().writes.empty());
    gpu.reset();
    EXPECT_EQ(read(window), 0U);
}

TEST_F(Bridge, RefusesEveryOtherWrite) {
    const auto before = read(0xc20000 + 4 * 11);
    write(0xc20000 + 4 * 11, 0x80000000);
    write(window, 0x13db8a);
    write(pramin, 0);
    EXPECT_EQ(read(pramin), 0x80030001U);
    EXPECT_EQ(read(0xc20000 + 4 * 11), before);
    EXPECT_EQ(gpu.refusals().writes.size(), 2U);
    EXPECT_TRUE(has(gpu.report(), "2 writes refused"));
    EXPECT_EQ(ask("violations")["violations"].size(), 2U);
    EXPECT_EQ(ask("violations")["violations"][0]["why"], "refused");
    ask("violations reset");
    EXPECT_TRUE(ask("violations")["violations"].empty());
    EXPECT_TRUE(has(gpu.report(), "2 writes refused"));
}

TEST_F(Bridge, ShowsTheWordsOfOneFileInTheirOrder) {
    EXPECT_EQ(ask("file runlist0_brief")["ok"], true);
    EXPECT_EQ(read(0xc2002c), 0x44aU);
    EXPECT_EQ(read(0x104028), 0xffffU) << "what was read to find out about the GPU stays";
    EXPECT_EQ(read(0x9400), nothing) << "the clock was not read for it";
    ask("file engines");
    std::vector<std::uint64_t> moments;
    for (int i = 0; i < 30; i++)
        moments.push_back(read(0x40920));
    EXPECT_NE(std::ranges::count(moments, moments.front()), 30);
    EXPECT_EQ(moments[29], moments[28]);
    ask("file engines");
    EXPECT_EQ(read(0x40920), moments.front()) << "from the first again";
    EXPECT_TRUE(has(ask("file runlist4")["error"], "gpu0/runlist4"));
    ask("file");
    EXPECT_NE(read(0x9400), nothing);
    EXPECT_EQ(read(0x40920), read(0x40920));
}

TEST_F(Bridge, CountsReads) {
    ask("stats reset");
    read(0);
    memory(0x13db8a0000);
    EXPECT_EQ(ask("stats")["registers"], 1);
    EXPECT_EQ(ask("stats")["memory_words"], 1);
}

TEST_F(Bridge, RefusesUnknownRequests) {
    for (const char *const line : {"", "restart", "fault all-ones", "info 1", "stats 1 2", "\xff"})
        EXPECT_EQ(ask(line)["ok"], false) << line;
    EXPECT_TRUE(has(ask("info")["board"], "gpu0 of"));
    EXPECT_EQ(ask("start")["ok"], true);
}

TEST(BridgeSource, RefusesCapturesWithoutWords) {
    const fs::path path =
        fs::temp_directory_path() / ("nvdebug-bridge-" + std::to_string(getpid()));
    const auto refused = [&](const std::string &text) {
        std::ofstream(path) << text;
        const std::string said = refusal([&] { open_capture(path); });
        fs::remove(path);
        return said;
    };
    EXPECT_TRUE(has(refused("text"), "is no capture"));
    const auto capture_of = [](const std::string &pci_id, const std::string &words) {
        const auto tree = Tree::capture(h100);
        std::string info = *tree->read("gpu0/info");
        info.replace(info.find("10de:2330"), 9, pci_id);
        Json made = {
            {"format", "nvdebug-capture"}, {"version", 1}, {"files", {{"gpu0/info", info}}}};
        if (!words.empty())
            made["words"] = {{"gpu0", words}};
        return made.dump();
    };
    const std::string boot_0 = "0 180000a1\n";
    EXPECT_EQ(refused(capture_of("10de:2330", boot_0)), "");
    EXPECT_TRUE(has(refused(capture_of("10de:2330", "")), "has no words"));
    EXPECT_TRUE(has(refused(capture_of("-", boot_0)), "not on PCI"));
    EXPECT_TRUE(has(refused(capture_of("10de:2330", "x\n")), "'x'"));
    EXPECT_NE(refusal([] { open_capture("/nonexistent.capture"); }), "");
}

// --- over the driver ---

class Live : public testing::Test {
  protected:
    Live() {
        kernel->registers = [](std::uint32_t offset) -> std::optional<std::uint32_t> {
            return offset == 0       ? 0x180000a1
                   : offset == 0x104 ? 0x1234
                                     : std::optional<std::uint32_t>();
        };
        kernel->memory = [](std::uint64_t address) { return static_cast<std::uint32_t>(address); };
    }
    ~Live() override { EXPECT_EQ(kernel->wrongs, std::vector<std::string>{}); }

    std::shared_ptr<driver_test::StandIn> kernel = std::make_shared<driver_test::StandIn>();
};

TEST_F(Live, ReadsThroughTheDriver) {
    {
        BridgedGpu gpu(open_live(kernel, "0"));
        EXPECT_EQ(gpu.config_read(0x00, 4), 0x233010deU);
        EXPECT_EQ(gpu.bar_read(Bar::registers, 0x104, 4), 0x1234U);
        EXPECT_EQ(gpu.bar_read(Bar::registers, 0x108, 4), nothing);
        gpu.bar_write(Bar::registers, window, 0x1000, 4); // 256 MiB
        EXPECT_EQ(gpu.bar_read(Bar::registers, pramin + 0x20, 4), 0x10000020U);
        gpu.bar_write(Bar::registers, window, 0x4000, 4); // the end of video memory
        EXPECT_EQ(gpu.bar_read(Bar::registers, pramin, 4), no_memory);
        gpu.bar_write(Bar::registers, 0x104, 1, 4);
        EXPECT_EQ(gpu.refusals().writes.size(), 1U);
        EXPECT_FALSE(gpu.show("runlist0"));
        // Now the GPU has gone, and then the driver.
        kernel->registers = [](std::uint32_t) { return std::optional(~std::uint32_t{0}); };
        EXPECT_EQ(gpu.bar_read(Bar::registers, 0, 4), 0xffffffffU);
        kernel->deny = kernel->ioctls + 1;
        kernel->deny_with = driver_test::rm::gpu_is_lost;
        kernel->registers = nullptr;
        EXPECT_EQ(gpu.bar_read(Bar::registers, 0x104, 4), 0xffffffffU);
        EXPECT_TRUE(gpu.trouble());
    }
    EXPECT_EQ(kernel->open_files(), 0U);
    EXPECT_EQ(kernel->mapped(), 0U);
}

TEST_F(Live, ErrorNamesTheReason) {
    EXPECT_TRUE(has(refusal([&] { open_live(kernel, "1"); }), "has 1 GPUs here"));
    EXPECT_TRUE(has(refusal([&] { open_live(kernel, "x"); }), "live:x"));
    kernel->root = false;
    EXPECT_TRUE(has(refusal([&] { open_live(kernel, "0"); }), "use sudo"));
    kernel->root = true;
    kernel->files["/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"] = "suspended\n";
    EXPECT_TRUE(has(refusal([&] { open_live(kernel, "0"); }), "asleep"));
    kernel->cannot_open["/dev/nvidiactl"] = ENOENT;
    EXPECT_TRUE(has(refusal([&] { open_live(kernel, "0"); }), "/dev/nvidiactl"));
}

TEST_F(Live, RefusesAnUnknownChip) {
    kernel->registers = [](std::uint32_t) { return std::optional<std::uint32_t>(0x1f0000a1); };
    const std::string said = refusal([&] { BridgedGpu gpu(open_live(kernel, "0")); });
    EXPECT_TRUE(has(said, "no GPU") || has(said, "0x1f0")) << said;
}

} // namespace
} // namespace nvdebug::bridge
