// SPDX-License-Identifier: MIT OR GPL-2.0
// Counts the calls that reading files again takes, and checks the order of registers and memory.
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

/// Registers keep their values until go_on().
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

/// The registers that a file needed are read ahead, many in a call, when the file is read again.
TEST_F(Frozen, RereadsFilesInFewCalls) {
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

/// Engines become idle and busy again, and other registers change during the read.
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

/// Returns the first six words of each line, which come from one register of an engine.
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

/// An unreadable engine is a fact about the GPU, but a driver that fails is an error.
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

/// The words of a modelled GPU. `order` gets a letter for each register and each piece of memory.
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

/// After its memory was read, a list is located again by registers that are read then, not before.
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

/// The engine changes its owner between two reads, so the second read needs other registers.
TEST_F(Frozen, ReadsRegistersThatThePlanLacks) {
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

} // namespace
} // namespace driver_test
