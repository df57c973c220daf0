// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads the files of the driver source, over a stand-in for NVIDIA's driver with the model as its
// GPU.
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
using sections::Section;
namespace fs = std::filesystem;

// --- files ---

class Boards : public testing::TestWithParam<std::string> {};

/// Removes the lines of `info` about the GPU's attachment, and about features that the driver
/// lacks.
std::string without_attachment(const std::string &info) {
    std::istringstream lines(info);
    std::string kept;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("pci_") && !line.starts_with("bar") && !line.starts_with("driver:") &&
            !line.starts_with("feature channel_control:") &&
            !line.starts_with("feature runlist_control:") &&
            !line.starts_with("feature preemption_mode:") &&
            !line.starts_with("feature pram_window:"))
            kept += line + "\n";
    return kept;
}

TEST_P(Boards, HaveTheTextsOfTheModule) {
    const Bench bench(GetParam());
    const Tree tree = bench.tree();
    std::size_t compared = 0;
    for (const char *const name : {"topology", "idle"})
        for (const Section &section : sections::load(golden / GetParam() / name)) {
            // The clock and ticking registers differ from the values in the VM.
            if (section.name == "ptimer" || section.name == "scheduling" ||
                section.text.starts_with("cat:"))
                continue;
            const auto text = tree.read("gpu0/" + section.name);
            ASSERT_TRUE(text) << section.name << ": " << text.error().sentence;
            if (section.name == "info")
                EXPECT_EQ(without_attachment(*text), without_attachment(section.text));
            else
                EXPECT_EQ(*text, section.text) << section.name;
            compared++;
        }
    EXPECT_GE(compared, 20U);
    EXPECT_EQ(bench.kernel->wrongs, std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Cards, Boards,
                         testing::Values("gtx980", "gtx1060-3gb", "gtx1080ti", "titan-v",
                                         "rtx2080ti", "a100", "rtx-a6000", "rtx6000-ada", "h200",
                                         "b200", "rtx5090"),
                         [](const auto &board) {
                             std::string name = board.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST_F(Driver, ReadsListsContextsAndPageTables) {
    const Tree tree = bench.tree();
    const nvdebug::Gpu gpu(tree, 0);
    const auto list = gpu.runlist(0);
    ASSERT_TRUE(list) << list.error().sentence;
    EXPECT_FALSE(nvdebug::channels_of(*list).empty());
    const auto spaces = gpu.address_spaces();
    ASSERT_TRUE(spaces) << spaces.error().sentence;
    EXPECT_FALSE(spaces->empty());
    const auto states = gpu.engine_states();
    ASSERT_TRUE(states) << states.error().sentence;
    const std::string channel =
        "0:" + std::to_string(nvdebug::channels_of(*list).at(0).channel->id);
    const auto walk = gpu.translate(channel + " 0x1000");
    EXPECT_TRUE(walk) << walk.error().sentence;
}

TEST_F(Driver, SaysHowTheGpuIsAttached) {
    const auto info = nvdebug::Gpu(bench.tree(), 0).info();
    ASSERT_TRUE(info);
    EXPECT_EQ(info->pci_address, "0000:01:00.0");
    EXPECT_EQ(info->pci_id, "10de:2330");
    EXPECT_EQ(info->pci_subsystem, "10de:16c1");
    EXPECT_EQ(info->bar_size[0], 16U << 20);
    EXPECT_EQ(info->bar_size[1], 128ULL << 30);
    EXPECT_EQ(info->bar_size[2], 32U << 20);
    EXPECT_EQ(info->driver, "nvidia");
    EXPECT_FALSE(info->feature("channel_control")->available);
    EXPECT_TRUE(info->feature("runlist")->available);
}

TEST_F(Driver, NumbersGpusByPciAddress) {
    kernel.cards.clear();
    kernel.add_card(0, 9);
    kernel.add_card(1, 1);
    const Tree tree = bench.tree();
    const auto gpus = nvdebug::gpus(tree);
    ASSERT_TRUE(gpus);
    ASSERT_EQ(gpus->size(), 2U);
    EXPECT_EQ(gpus->at(0).info()->pci_address, "0000:01:00.0");
    EXPECT_EQ(gpus->at(1).info()->pci_address, "0000:09:00.0");
    for (const nvdebug::Gpu &gpu : *gpus)
        EXPECT_TRUE(gpu.runlist(0));
}

// --- costs ---

TEST_F(Driver, AsksForManyRegistersAtOnce) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/info"));
    EXPECT_LE(kernel.register_calls, 15U);
    EXPECT_GT(kernel.registers_read, 200U);
    EXPECT_LE(kernel.most_at_once, 100U);
    EXPECT_EQ(kernel.mappings, 0U);
}

TEST(DriverCost, LongListTakesFewCalls) {
    Bench bench("h200", "many-64");
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/info"));
    const auto &kernel = *bench.kernel;
    const std::uint64_t before = kernel.register_calls;
    const auto list = nvdebug::Gpu(tree, 0).runlist(0);
    ASSERT_TRUE(list) << list.error().sentence;
    EXPECT_GE(nvdebug::channels_of(*list).size(), 64U);
    EXPECT_LE(kernel.register_calls - before, 12U);
    EXPECT_LE(kernel.mappings, 64U);
}

// --- failures ---

void expect_sentence(const nvdebug::Error &error, const std::string &part) {
    EXPECT_NE(error.sentence.find(part), std::string::npos) << error.sentence;
}

TEST_F(Driver, AdvisesSudoWithoutRoot) {
    kernel.root = false;
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const auto info = gpu.info();
    ASSERT_TRUE(info) << info.error().sentence;
    EXPECT_EQ(info->pci_id, "10de:2330");
    EXPECT_NE(info->feature("runlist")->reason.find("use sudo"), std::string::npos);
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, ErrorCode::denied);
    expect_sentence(list.error(), "use sudo");
    EXPECT_FALSE(gpu.translate("0:1 0x1000"));
}

TEST_F(Driver, FailsWithThePathOfAMissingDriver) {
    for (const int error : {ENOENT, EACCES, EIO}) {
        kernel.cannot_open["/dev/nvidiactl"] = error;
        const auto tree = nvdebug::driver::open_tree(bench.kernel, {});
        ASSERT_FALSE(tree);
        expect_sentence(tree.error(), "/dev/nvidiactl");
    }
}

/// Sudo gives root no right that its container or unit has taken away.
TEST_F(Driver, NamesWhoRefusesRoot) {
    const auto sentence = [&](const char *file, int error) {
        kernel.cannot_open = {{file, error}};
        const auto tree = nvdebug::driver::open_tree(bench.kernel, {});
        if (!tree)
            return tree.error().sentence;
        const auto list = nvdebug::Gpu(bench.tree(), 0).runlist(0);
        return list ? std::string() : list.error().sentence;
    };
    for (const char *const file : {"/dev/nvidiactl", "/dev/nvidia0"}) {
        const auto has = [&](int error, const char *part) {
            return sentence(file, error).find(part) != std::string::npos;
        };
        EXPECT_TRUE(has(EPERM, "device cgroup") && has(EPERM, "DeviceAllow=") && has(EPERM, file));
        EXPECT_TRUE(has(EACCES, "security module") && has(EACCES, file));
        EXPECT_FALSE(has(EPERM, "use sudo") || has(EACCES, "use sudo"));
    }
    kernel.root = false;
    EXPECT_NE(sentence("/dev/nvidiactl", EPERM).find("use sudo"), std::string::npos);
    EXPECT_NE(sentence("/dev/nvidiactl", EACCES).find("use sudo"), std::string::npos);
}

TEST_F(Driver, LeavesAGpuAsleep) {
    kernel.files["/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"] = "suspended\n";
    kernel.cannot_open["/dev/nvidia0"] = EIO; // an attempt would fail
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_TRUE(gpu.info());
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, ErrorCode::gone);
    expect_sentence(list.error(), "asleep");
}

TEST_F(Driver, ReportsAMissingGpuFile) {
    kernel.cannot_open["/dev/nvidia0"] = ENOENT;
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_TRUE(gpu.info());
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, ErrorCode::denied);
    expect_sentence(list.error(), "/dev/nvidia0");
    expect_sentence(list.error(), "this container or unit has no access to it");
    EXPECT_EQ(gpu.follow_switches().error().sentence, list.error().sentence);
}

TEST_F(Driver, ReadsTheLayoutOfOldVersions) {
    kernel.layout = StandIn::Layout::until_530;
    kernel.version = "525.147.05";
    EXPECT_TRUE(nvdebug::Gpu(bench.tree(), 0).runlist(0));
}

TEST_F(Driver, RefusesAnUnknownLayout) {
    kernel.layout = StandIn::Layout::unknown;
    const auto tree = nvdebug::driver::open_tree(bench.kernel, {});
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, ErrorCode::unsupported);
    expect_sentence(tree.error(), "525 to 595");
}

TEST_F(Driver, RefusesADriverWithoutAVersion) {
    for (const char *const version : {"", "five", "\x01\x02"}) {
        kernel.version = version;
        EXPECT_FALSE(nvdebug::driver::open_tree(bench.kernel, {}));
    }
}

TEST_F(Driver, SaysThatMigIsOn) {
    const auto model = kernel.registers;
    kernel.registers = [&](std::uint32_t offset) {
        constexpr std::uint32_t smcarb_sys_pipe_info = 0xcc80;
        return offset == smcarb_sys_pipe_info ? std::optional<std::uint32_t>(1) : model(offset);
    };
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const auto info = gpu.info();
    ASSERT_TRUE(info) << info.error().sentence;
    EXPECT_NE(info->feature("runlist")->reason.find("MIG is on"), std::string::npos);
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    expect_sentence(list.error(), "MIG is on");
}

TEST_F(Driver, SaysThatAGpuHasGone) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_TRUE(gpu.runlist(0));
    kernel.registers = [](std::uint32_t) { return std::optional(~std::uint32_t{0}); };
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, ErrorCode::gone);
    kernel.deny = kernel.ioctls + 1;
    kernel.deny_with = rm::gpu_is_lost;
    kernel.registers = nullptr;
    const auto again = gpu.runlist(0);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::gone);
}

TEST_F(Driver, LacksSomeRegisters) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_TRUE(gpu.runlist(0));
    const auto model = kernel.registers;
    kernel.registers = [&](std::uint32_t offset) {
        const bool is_channel_ram = offset >= 0xc10000 && offset < 0xe00000;
        return is_channel_ram ? std::nullopt : model(offset);
    };
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list) << "a channel's state is made up";
    EXPECT_EQ(list.error().code, ErrorCode::io);
}

TEST_F(Driver, ReadsNothingBeyondMemory) {
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const auto where = gpu.runlist(0)->place.address;
    ASSERT_TRUE(where);
    // Memory ends within the first entry, and so within a window.
    for (const std::uint64_t bytes : {*where + 8, *where, *where - 4096}) {
        kernel.memory_bytes = bytes;
        const auto list = nvdebug::Gpu(bench.tree(), 0).runlist(0);
        ASSERT_FALSE(list);
        expect_sentence(list.error(), "no video memory");
    }
}

TEST_F(Driver, ReportsAFailedMapping) {
    kernel.cannot_map = true;
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    expect_sentence(list.error(), "cannot be mapped");
}

TEST(DriverLimits, SystemMemoryIsTheModules) {
    Bench bench("h200", "sysmem");
    const nvdebug::Gpu gpu(bench.tree(), 0);
    const auto info = gpu.info();
    ASSERT_TRUE(info);
    std::size_t refused = 0;
    for (const std::uint32_t id : info->runlists)
        if (const auto list = gpu.runlist(id); !list) {
            expect_sentence(list.error(), "system memory");
            refused++;
        }
    EXPECT_GT(refused, 0U);
}

/// Reads all files. Each error must have a sentence.
void read_all(const std::shared_ptr<StandIn> &kernel) {
    const auto opened = nvdebug::driver::open_tree(kernel, {});
    if (!opened) {
        EXPECT_NE(opened.error().sentence, "");
        return;
    }
    const Tree tree(*opened);
    const auto gpus = nvdebug::gpus(tree);
    ASSERT_TRUE(gpus);
    for (const nvdebug::Gpu &gpu : *gpus) {
        const auto files = tree.list(gpu.folder());
        ASSERT_TRUE(files);
        for (const std::string &file : *files)
            if (const auto text = tree.read(gpu.folder() + "/" + file); !text) {
                EXPECT_NE(text.error().sentence, "") << file;
            }
        if (const auto walk = gpu.translate("0:1 0x1000"); !walk) {
            EXPECT_NE(walk.error().sentence, "");
        }
    }
}

TEST_F(Driver, SurvivesAFailureOfEachCall) {
    read_all(bench.kernel);
    const std::uint64_t calls = kernel.ioctls;
    for (std::uint64_t n = 1; n <= calls; n++) {
        kernel.ioctls = 0;
        kernel.fail = n % 2 ? n : 0;
        kernel.fail_with = n % 3 ? EIO : ENODEV;
        kernel.deny = n % 2 ? 0 : n;
        kernel.deny_with = n % 3 ? rm::not_supported : rm::gpu_is_lost;
        read_all(bench.kernel);
        // If the driver does not remove a mapping, the mapping ends with the client.
        if (HasFailure())
            FAIL() << "at call " << n;
        EXPECT_EQ(kernel.open_files(), 0U) << "at call " << n;
        EXPECT_EQ(kernel.mapped(), 0U) << "at call " << n;
    }
    kernel.forget_mappings();
}

TEST_F(Driver, SurvivesRandomAnswers) {
    std::mt19937 random(1); // NOLINT: the same each time
    for (int round = 0; round < 60; round++) {
        kernel.garble = [&](unsigned number, void *answer, std::size_t bytes) {
            // Most calls at the beginning succeed, so that later calls are reached.
            if (random() % 20)
                return;
            auto *const at = static_cast<unsigned char *>(answer);
            // The pointers in a request belong to the caller and stay as they are.
            if (number == rm::esc_control) {
                at[28] = static_cast<unsigned char>(random());
                return;
            }
            for (std::size_t i = 0; i < bytes; i++)
                if (random() % 4 == 0)
                    at[i] = static_cast<unsigned char>(random());
        };
        read_all(bench.kernel);
        EXPECT_EQ(kernel.open_files(), 0U);
        EXPECT_EQ(kernel.mapped(), 0U);
    }
    // The reader repeats names that it got from garbled answers, and the stand-in notes these as
    // wrong.
    kernel.wrongs.clear();
    kernel.forget_mappings();
}

TEST_F(Driver, SurvivesRandomRegisters) {
    std::mt19937 random(2); // NOLINT: the same each time
    const auto model = kernel.registers;
    const auto memory = kernel.memory;
    for (int round = 0; round < 30; round++) {
        kernel.registers = [&](std::uint32_t offset) -> std::optional<std::uint32_t> {
            if (random() % 50 == 0)
                return static_cast<std::uint32_t>(random());
            if (random() % 200 == 0)
                return std::nullopt;
            return model(offset);
        };
        kernel.memory = [&](std::uint64_t address) {
            return random() % 50 ? memory(address) : static_cast<std::uint32_t>(random());
        };
        read_all(bench.kernel);
    }
}

// --- records of words ---

TEST_F(Driver, ACaptureHasTheWords) {
    const fs::path file = fs::temp_directory_path() / ("nvdebug-words-" + std::to_string(getpid()));
    ASSERT_TRUE(nvdebug::write_capture(bench.tree(), {}, file));
    const auto capture = Tree::capture(file);
    ASSERT_TRUE(capture) << capture.error().sentence;
    fs::remove(file);
    EXPECT_EQ(capture->facts().at("source"), "NVIDIA's driver 580.159.04");
    const auto content = capture->impl().words();
    ASSERT_TRUE(content.contains("gpu0"));
    for (const char *const name : {"runlist0", "engines", "contexts", "copy_topology", "sm_map"}) {
        const auto text = nvdebug::driver::replay(content, "gpu0", name);
        ASSERT_TRUE(text) << name << ": " << text.error().sentence;
        EXPECT_EQ(*text, *capture->read(std::string("gpu0/") + name));
    }
}

TEST_F(Driver, ARecordIsOfOneReadAlone) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/runlist0"));
    ASSERT_TRUE(tree.read("gpu0/runlist0"));
    const std::string record = tree.impl().record("gpu0/runlist0");
    EXPECT_EQ(tree.impl().record("gpu0/runlist0"), "") << "it is there once";
    ASSERT_TRUE(tree.read("gpu0/engines"));
    ASSERT_TRUE(tree.read("gpu0/runlist0"));
    EXPECT_EQ(tree.impl().record("gpu0/runlist0").size(), record.size());
    const std::string probe = tree.impl().record("gpu0");
    EXPECT_FALSE(probe.empty());
    EXPECT_EQ(tree.impl().record("gpu0"), probe) << "each time";
}

TEST_F(Driver, LeavesTheChipOfAClosedGpuEmpty) {
    kernel.root = false;
    const auto info = nvdebug::Gpu(bench.tree(), 0).info();
    ASSERT_TRUE(info);
    EXPECT_EQ(info->chip_id, std::nullopt);
    EXPECT_EQ(info->revision, std::nullopt);
}

} // namespace
} // namespace driver_test
