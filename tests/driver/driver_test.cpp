// SPDX-License-Identifier: MIT OR GPL-2.0
// The driver source over a stand-in for NVIDIA's driver, with the model as its GPU.
#include "bench.hpp"
#include "tests/sections.hpp"

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

// --- its files ---

class Boards : public testing::TestWithParam<std::string> {};

/// Lines of `info` about how the GPU is attached, and about what the driver cannot do.
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

TEST_P(Boards, SayWhatTheModuleSays) {
    const Bench bench(GetParam());
    const Tree tree = bench.tree();
    std::size_t compared = 0;
    for (const char *const name : {"topology", "idle"})
        for (const Section &section : sections::load(golden / GetParam() / name)) {
            // Clock and ticking registers: not of the same time as in the VM.
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

// --- what it costs ---

TEST_F(Driver, AsksForManyRegistersAtOnce) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/info"));
    EXPECT_LE(kernel.register_calls, 15U);
    EXPECT_GT(kernel.registers_read, 200U);
    EXPECT_LE(kernel.most_at_once, 100U);
    EXPECT_EQ(kernel.mappings, 0U);
}

TEST(DriverCost, OfALongList) {
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

// --- owners of channels ---

/// Instance blocks of a list's channels, in its order.
std::vector<std::uint64_t> instances_of(const nvdebug::Runlist &list) {
    std::vector<std::uint64_t> found;
    for (const auto &listed : nvdebug::channels_of(list))
        found.push_back(listed.channel->instance_place.address.value());
    return found;
}

class Ownership : public Driver {
  protected:
    /// 557 made the first channels of runlist 0, 558 the next, and no process the last.
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

    /// Their pids, in the list's order; 0: none.
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
    std::uint32_t first = 0, second = 0; // their clients
};

TEST_F(Ownership, IsOfWhoHasTheInstanceBlock) {
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

/// Its TSG is behind a gap, at a name that is not tried.
TEST_F(Ownership, OfATsgThatWasPassedOverIsAskedOfItsChannel) {
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

TEST_F(Ownership, AndListsAreReadFromSeveralThreads) {
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

/// As of a process that has freed what it made in between. Objects have others beside them.
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

TEST_F(Ownership, OfAClientIsTheOldestProcessThatHasIt) {
    kernel.processes[556] = kernel.processes[557]; // a child with its parent's descriptors
    kernel.processes[556].started = 11;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(557, 558));
    EXPECT_EQ(owners->processes.size(), 3U);
}

TEST_F(Ownership, IsNobodysWhereTwoClaimIt) {
    kernel.add_process(600, firsts);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(0, 558));
}

TEST_F(Ownership, IsOfThisGpu) {
    for (auto &[name, object] : kernel.others[first])
        object.gpu_id = 99;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(pids(*owners), expected(0, 558));
}

TEST_F(Ownership, WithoutRootTellsTsgsOfOwnProcesses) {
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

TEST_F(Ownership, IsCountedWhereItMayNotBeAsked) {
    kernel.processes[557].denied = true;
    kernel.processes[700].uses_gpu = false;
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(owners->denied, 1U);
    EXPECT_EQ(pids(*owners), expected(0, 558));
    EXPECT_EQ(owners->processes.size(), 2U) << "that it uses the GPU is known all the same";
}

TEST_F(Ownership, EndsInTheMiddle) {
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
        // The driver logs it: at most the one that was under way, and what comes right after.
        EXPECT_LE(kernel.wrongs.size(), 1U) << "at question " << n;
        kernel.wrongs.clear();
        kernel.processes[557] = process;
        kernel.others[first] = objects;
    }
    kernel.before_question = nullptr;
}

TEST_F(Ownership, EndsBeforeItIsAsked) {
    // Its number is another's by then.
    kernel.before_take = [&] { kernel.processes[557].started = 999; };
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners);
    EXPECT_EQ(owners->ended, 1U);
    EXPECT_EQ(owners->processes.size(), 1U);
    EXPECT_EQ(pids(*owners), expected(0, 558));
}

TEST_F(Ownership, MayFailAtEachQuestion) {
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

TEST_F(Ownership, MayBeAnything) {
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

TEST_F(Ownership, OfAGpuAsleepIsNotAsked) {
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

// --- what goes wrong ---

void expect_sentence(const nvdebug::Error &error, const std::string &part) {
    EXPECT_NE(error.sentence.find(part), std::string::npos) << error.sentence;
}

/// Registers that keep their values until time goes on.
class Frozen : public Driver {
  protected:
    Frozen() {
        kernel.registers = [this, before = kernel.registers](std::uint32_t offset) {
            const auto [value, is_new] = values.try_emplace(offset);
            if (is_new)
                value->second = before(offset);
            return value->second;
        };
    }
    void go_on() {
        values.clear();
        bench.gpu.advance(700 * nvmodel::ns_per_us);
    }
    [[nodiscard]] std::string fresh(const std::string &file) const {
        return *bench.tree().read(file);
    }

    std::map<std::uint32_t, std::optional<std::uint32_t>> values;
};

/// What a file took the last time is read ahead, many in a call, when it is read again.
TEST_F(Frozen, IsReadAgainInFewCalls) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/info"));
    for (const std::string file : {"gpu0/engines", "gpu0/runlist0_brief"}) {
        std::uint64_t calls = kernel.register_calls, registers = kernel.registers_read;
        ASSERT_TRUE(tree.read(file));
        const std::uint64_t first_calls = kernel.register_calls - calls;
        const std::uint64_t first_registers = kernel.registers_read - registers;
        for (int i = 0; i < 20; i++) {
            go_on();
            calls = kernel.register_calls;
            registers = kernel.registers_read;
            EXPECT_EQ(*tree.read(file), fresh(file));
        }
        go_on();
        calls = kernel.register_calls;
        registers = kernel.registers_read;
        ASSERT_TRUE(tree.read(file));
        EXPECT_LE(kernel.register_calls - calls, std::min(first_calls, std::uint64_t{4})) << file;
        EXPECT_EQ(kernel.registers_read - registers, first_registers) << file;
    }
}

/// Engines become idle and are used again, and others change under the read.
TEST_F(Driver, EnginesThatMoveAreReadInFewCalls) {
    constexpr std::uint64_t times = 50;
    const Tree tree = bench.tree();
    std::set<std::string> texts;
    std::uint64_t calls = 0;
    for (std::uint64_t i = 0; i < 2 * times; i++) {
        bench.gpu.advance(700 * nvmodel::ns_per_us);
        if (i == times)
            calls = kernel.register_calls;
        texts.insert(*tree.read("gpu0/engines"));
    }
    EXPECT_GT(texts.size(), 3U);
    EXPECT_LE(kernel.register_calls - calls, 3 * times);
}

/// The first six words of each line: what one register of an engine has.
std::string statuses(const std::string &engines) {
    std::string kept;
    std::istringstream lines(engines);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        words.ignore(line.starts_with("# ") ? 2 : 0);
        std::string word;
        for (int n = 0; n < 6 && words >> word; n++)
            kept += word + " ";
        kept += "\n";
    }
    return kept;
}

TEST_F(Frozen, ASampleOfEnginesIsOneCall) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/info"));
    std::set<std::string> texts;
    for (int i = 0; i < 100; i++) {
        go_on();
        const std::uint64_t calls = kernel.register_calls;
        const auto sample = tree.read("gpu0/engines_brief");
        ASSERT_TRUE(sample) << sample.error().sentence;
        EXPECT_EQ(kernel.register_calls - calls, 1U);
        EXPECT_EQ(statuses(*sample), statuses(*tree.read("gpu0/engines")));
        EXPECT_TRUE(nvdebug::parse_engines(*sample)) << *sample;
        texts.insert(*sample);
    }
    EXPECT_GT(texts.size(), 3U);
}

/// That an engine is unreadable is a fact about the GPU, and no reason why it could not be asked.
TEST_F(Driver, ASampleOfEnginesFailsWithTheDriver) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/engines_brief"));
    kernel.ioctls = 0;
    kernel.fail = 1;
    kernel.fail_with = EIO;
    EXPECT_FALSE(tree.read("gpu0/engines_brief"));
    kernel.fail = 0;
    EXPECT_TRUE(tree.read("gpu0/engines_brief"));
}

/// Words of a modelled GPU; `order` gets a letter for each register and piece of memory.
class Ordered final : public nvdebug::driver::Words {
  public:
    Ordered(nvmodel::Gpu &gpu, std::string &order) : gpu_(gpu), order_(order) {}
    nvdebug::Result<void> registers(std::span<const std::uint32_t> offsets,
                                    std::span<std::uint32_t> values) override {
        for (std::size_t i = 0; i < offsets.size(); i++)
            values[i] =
                static_cast<std::uint32_t>(gpu_.bar_read(nvmodel::Bar::registers, offsets[i], 4));
        order_.append(offsets.size(), 'r');
        return {};
    }
    nvdebug::Result<void> memory(std::uint64_t address, std::span<std::uint32_t> words) override {
        for (std::uint32_t &word : words) {
            word = gpu_.direct_read(address);
            address += 4;
        }
        order_ += 'm';
        return {};
    }

  private:
    nvmodel::Gpu &gpu_;
    std::string &order_;
};

/// A list is located again after its memory was read: never by registers that were read before.
TEST_F(Driver, ReadsNoRegisterAheadOfMemory) {
    std::string order;
    auto machine = nvdebug::driver::Machine::probe(std::make_unique<Ordered>(bench.gpu, order), {});
    ASSERT_TRUE(machine);
    for (const std::string file : {"runlist0_brief", "runlist0", "contexts"}) {
        order.clear();
        ASSERT_TRUE((*machine)->read(file)) << file;
        const std::string first = std::exchange(order, {});
        ASSERT_TRUE((*machine)->read(file)) << file;
        EXPECT_NE(first.find('m'), first.npos);
        EXPECT_EQ(order, first) << file;
    }
}

/// The engine changes hands between two looks: it takes others than the last time.
TEST_F(Frozen, WhatTakesOtherRegistersIsReadAsWell) {
    const Tree tree = bench.tree();
    ASSERT_TRUE(tree.read("gpu0/engines"));
    const auto steady = kernel.registers;
    std::uint64_t reads = 0;
    kernel.registers = [&](std::uint32_t offset) {
        if (++reads % 5 == 0)
            go_on();
        return steady(offset);
    };
    for (int i = 0; i < 5; i++)
        EXPECT_TRUE(tree.read("gpu0/engines"));
    kernel.registers = steady;
    EXPECT_EQ(*tree.read("gpu0/engines"), fresh("gpu0/engines"));
}

TEST_F(Driver, WithoutRootSaysWhatItTakes) {
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

TEST_F(Driver, IsNotThere) {
    for (const int error : {ENOENT, EACCES, EIO}) {
        kernel.cannot_open["/dev/nvidiactl"] = error;
        const auto tree = nvdebug::driver::open_tree(bench.kernel, {});
        ASSERT_FALSE(tree);
        expect_sentence(tree.error(), "/dev/nvidiactl");
    }
}

TEST_F(Driver, LeavesAGpuAsleep) {
    kernel.files["/sys/bus/pci/devices/0000:01:00.0/power/runtime_status"] = "suspended\n";
    kernel.cannot_open["/dev/nvidia0"] = EIO; // nor is it tried
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_TRUE(gpu.info());
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, ErrorCode::gone);
    expect_sentence(list.error(), "asleep");
}

TEST_F(Driver, HasNoGpuFile) {
    kernel.cannot_open["/dev/nvidia0"] = ENOENT;
    const nvdebug::Gpu gpu(bench.tree(), 0);
    ASSERT_TRUE(gpu.info());
    const auto list = gpu.runlist(0);
    ASSERT_FALSE(list);
    expect_sentence(list.error(), "/dev/nvidia0");
}

TEST_F(Driver, OfOldVersionsTakesTheirLayout) {
    kernel.layout = StandIn::Layout::until_530;
    kernel.version = "525.147.05";
    EXPECT_TRUE(nvdebug::Gpu(bench.tree(), 0).runlist(0));
}

TEST_F(Driver, OfAnUnknownLayoutIsRefused) {
    kernel.layout = StandIn::Layout::unknown;
    const auto tree = nvdebug::driver::open_tree(bench.kernel, {});
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, ErrorCode::unsupported);
    expect_sentence(tree.error(), "525 to 595");
}

TEST_F(Driver, WithoutAVersionIsRefused) {
    for (const char *const version : {"", "five", "\x01\x02"}) {
        kernel.version = version;
        EXPECT_FALSE(nvdebug::driver::open_tree(bench.kernel, {}));
    }
}

TEST_F(Driver, WithMigOnSaysSo) {
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

TEST_F(Driver, HasNotEveryRegister) {
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
    // It ends in the first entry, so in a window.
    for (const std::uint64_t bytes : {*where + 8, *where, *where - 4096}) {
        kernel.memory_bytes = bytes;
        const auto list = nvdebug::Gpu(bench.tree(), 0).runlist(0);
        ASSERT_FALSE(list);
        expect_sentence(list.error(), "no video memory");
    }
}

TEST_F(Driver, CannotMap) {
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

/// Everything there is to read. Errors are to have a sentence.
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

TEST_F(Driver, MayFailAtEachCall) {
    read_all(bench.kernel);
    const std::uint64_t calls = kernel.ioctls;
    for (std::uint64_t n = 1; n <= calls; n++) {
        kernel.ioctls = 0;
        kernel.fail = n % 2 ? n : 0;
        kernel.fail_with = n % 3 ? EIO : ENODEV;
        kernel.deny = n % 2 ? 0 : n;
        kernel.deny_with = n % 3 ? rm::not_supported : rm::gpu_is_lost;
        read_all(bench.kernel);
        // A mapping that the driver does not take back goes with the client.
        if (HasFailure())
            FAIL() << "at call " << n;
        EXPECT_EQ(kernel.open_files(), 0U) << "at call " << n;
        EXPECT_EQ(kernel.mapped(), 0U) << "at call " << n;
    }
    kernel.forget_mappings();
}

TEST_F(Driver, MayAnswerAnything) {
    std::mt19937 random(1); // NOLINT: the same each time
    for (int round = 0; round < 60; round++) {
        kernel.garble = [&](unsigned number, void *answer, std::size_t bytes) {
            // Mostly after the beginning, so that there is more to get wrong.
            if (random() % 20)
                return;
            auto *const at = static_cast<unsigned char *>(answer);
            // Not the pointers that are the caller's own.
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
    // It received names that it never gave.
    kernel.wrongs.clear();
    kernel.forget_mappings();
}

TEST_F(Driver, RegistersMayHoldAnything) {
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

// --- what was read is kept ---

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

TEST_F(Driver, OfAClosedGpuTheChipIsNotKnown) {
    kernel.root = false;
    const auto info = nvdebug::Gpu(bench.tree(), 0).info();
    ASSERT_TRUE(info);
    EXPECT_EQ(info->chip_id, std::nullopt);
    EXPECT_EQ(info->revision, std::nullopt);
}

class Hardware : public testing::TestWithParam<std::string> {};

/// What real GPUs answered (tests/hardware), through the core as it is now.
TEST_P(Hardware, SaysTheSameOfTheSameWords) {
    const auto capture = Tree::capture(hardware / GetParam());
    ASSERT_TRUE(capture) << capture.error().sentence;
    const auto words = capture->impl().words();
    const auto files = capture->list("gpu0");
    ASSERT_TRUE(files);
    std::size_t compared = 0;
    for (const std::string &file : *files) {
        // How the GPU was attached, and its processes, are not of its words.
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

/// Two CUDA processes on an H100; the rest of the channels are the driver's own.
TEST(HardwareOwners, AreTheProcessesThatRan) {
    const auto capture = Tree::capture(hardware / "h100-580.159.04" / "capture-owners");
    ASSERT_TRUE(capture) << capture.error().sentence;
    const nvdebug::Gpu gpu(*capture, 0);
    const auto owners = gpu.owners();
    ASSERT_TRUE(owners) << owners.error().sentence;
    ASSERT_EQ(owners->processes.size(), 2U);
    std::map<std::uint32_t, std::size_t> channels; // by pid; 0: none
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

/// Three clients and the server, on an H200: one TSG of all, and each channel is its client's.
TEST(HardwareOwners, OfMpsAreItsClients) {
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

TEST(Record, IsRefusedIfItIsNone) {
    for (const char *const text : {"x", "1 2 3", "1:", "1: 2", "4: x", "4 ", "4", "4: 5 x"}) {
        nvdebug::driver::RecordedWords words;
        EXPECT_FALSE(words.add(text)) << text;
    }
}

/// What is asked of it leaves nothing behind.
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
