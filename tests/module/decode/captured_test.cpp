// SPDX-License-Identifier: MIT OR GPL-2.0
// The decoders read words of a real H100 and H200. The results are compared with the answers of
// NVIDIA's driver for the same GPU.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "decode/bar.h"
#include "decode/copy.h"
#include "decode/geometry.h"
#include "decode/ptop.h"
#include "hw/ptop.h"

namespace {

using Numbers = std::vector<std::uint32_t>;

// Returns the lines of a file of tests/data without its comments.
std::vector<std::string> lines(const std::string &name) {
    std::ifstream file(std::string(TEST_DATA) + "/" + name);
    EXPECT_TRUE(file.is_open()) << name;
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#')
            all.push_back(line);
    return all;
}

class Captured : public testing::TestWithParam<const char *> {
  protected:
    void SetUp() override {
        for (const std::string &line : lines(std::string(GetParam()) + "-registers.txt")) {
            std::istringstream words(line);
            std::uint32_t offset, value;
            ASSERT_TRUE(words >> std::hex >> offset >> value) << line;
            do {
                registers[offset] = value;
                offset += 4;
            } while (words >> value);
            ASSERT_TRUE(words.eof()) << line;
        }
        for (const std::string &line : lines(std::string(GetParam()) + "-driver.txt")) {
            std::istringstream words(line);
            std::string what;
            words >> what;
            Numbers numbers;
            for (std::string number; words >> number;) {
                const bool hex =
                    (what == "runlist" || what == "pces" || what == "tpcs") && numbers.size() == 1;
                numbers.push_back(
                    static_cast<std::uint32_t>(std::stoul(number, nullptr, hex ? 16 : 10)));
            }
            driver[what].push_back(numbers);
        }
    }

    std::uint32_t reg(std::uint32_t offset) const { return registers.at(offset); }

    Numbers words(std::uint32_t offset, std::uint32_t count) const {
        Numbers all;
        for (std::uint32_t i = 0; i < count; i++)
            all.push_back(reg(offset + 4 * i));
        return all;
    }

    std::vector<nvdebug_engine> engines() const {
        const Numbers rows = words(0x22800, reg(0x224fc) >> 20 & 0xfff);
        std::vector<nvdebug_engine> all(64);
        const int count =
            nvdebug_ptop_v2_decode(rows.data(), rows.size(), all.data(), all.size(), nullptr);
        EXPECT_GE(count, 0);
        all.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
        return all;
    }

    std::map<std::uint32_t, std::uint32_t> registers;
    std::map<std::string, std::vector<Numbers>> driver;
};

constexpr std::uint32_t no_register = 0xbadf5040;

// NV2080_ENGINE_TYPE_*: open-gpu-kernel-modules class/cl2080_notification.h.
std::string name_of(std::uint32_t type) {
    const struct {
        std::uint32_t first, last;
        const char *name;
    } known[] = {{1, 8, "GR"},    {9, 18, "LCE"},    {19, 26, "NVDEC"},
                 {38, 38, "SEC"}, {43, 50, "NVJPG"}, {51, 51, "OFA"}};
    for (const auto &kind : known)
        if (type >= kind.first && type <= kind.last)
            return kind.name + std::to_string(type - kind.first);
    return "type " + std::to_string(type);
}

TEST_P(Captured, EveryEngineOfTheDriverIsInPtopAndOnItsRunlist) {
    std::map<std::string, nvdebug_engine> table;
    for (const nvdebug_engine &engine : engines())
        if (const char *name = nvdebug_engine_type_name(engine.type))
            table[name + std::to_string(engine.inst)] = engine;
    ASSERT_EQ(driver["runlist"].size(), 22u);
    for (const Numbers &line : driver["runlist"]) {
        const std::string name = name_of(line[0]);
        ASSERT_TRUE(table.count(name)) << name;
        const nvdebug_engine &engine = table[name];
        const std::uint32_t base = line[1];
        EXPECT_TRUE(engine.has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE) << name;
        EXPECT_EQ(engine.runlist_base, base) << name;
        EXPECT_EQ(reg(base + 8) >> 16, line[2]) << name;
        EXPECT_EQ(reg(base + 0x228 + 0x40 * engine.rleng) >> 24 & 0x3f, line[3]) << name;
    }
}

TEST_P(Captured, PtopHasTheEnginesOfTheWholeChip) {
    std::map<std::string, unsigned> count;
    for (const nvdebug_engine &engine : engines()) {
        const char *name = nvdebug_engine_type_name(engine.type);
        if (name && engine.has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE)
            count[name]++;
    }
    // These two cards lack NVDEC0 and NVJPG1. The rows of both are zero and stand between the
    // others.
    const std::map<std::string, unsigned> want = {{"GR", 8},    {"LCE", 10}, {"NVDEC", 7},
                                                  {"NVJPG", 7}, {"OFA", 1},  {"SEC", 1}};
    EXPECT_EQ(count, want);
    EXPECT_EQ(reg(0x22800 + 4 * 134), no_register);
}

TEST_P(Captured, PcesOfEachLceAreTheDrivers) {
    ASSERT_EQ(driver["pces"].size(), 5u);
    EXPECT_EQ(reg(0x104028), 0xffffu);
    for (const Numbers &line : driver["pces"]) {
        const std::uint32_t lce = line[0] - 9;
        std::uint32_t works_for = lce, mask = 0;
        if (lce < 2)
            works_for = nvdebug_grce_lce_tu102(reg(0x1041c0 + 4 * lce), lce);
        for (std::uint32_t pce = 0; pce < 16; pce++)
            if (nvdebug_pce_lce_gv100(reg(0x104100 + 4 * pce), pce) == works_for)
                mask |= 1u << pce;
        EXPECT_EQ(mask, line[1]) << lce;
    }
    EXPECT_EQ(reg(0x104100 + 4 * 16), no_register);
    EXPECT_EQ(reg(0x1041c0 + 4 * 2), no_register);
}

TEST_P(Captured, FusesAreTheDriversMasksOfPhysicalGpcs) {
    ASSERT_EQ(driver["tpcs"].size(), 8u);
    EXPECT_EQ(reg(0x820c1c), 0u);
    for (const Numbers &line : driver["tpcs"])
        EXPECT_EQ(~reg(0x820c38 + 4 * line[0]) & nvdebug_unit_mask(9), line[1]) << line[0];
}

TEST_P(Captured, WorkDistributorHasTheDriversOrder) {
    u32 gpcs, tpcs;
    nvdebug_cwd_fs_decode(reg(0x405b00), &gpcs, &tpcs);
    EXPECT_EQ(gpcs, 8u);
    EXPECT_EQ(tpcs, 66u);
    const Numbers table = words(0x405000, 18), back = words(0x405100, 24);
    ASSERT_EQ(driver["tpc"].size(), tpcs);
    for (const Numbers &line : driver["tpc"]) {
        const std::uint32_t id = line[0], gpc = line[1], tpc = line[3];
        nvdebug_tpc_place place{};
        ASSERT_EQ(nvdebug_tpc_find(table.data(), 18, id, &place), 0);
        EXPECT_EQ(place.gpc, gpc) << id;
        EXPECT_EQ(place.tpc, tpc) << id << ": the virtual TPC, not the local one";
        EXPECT_EQ(back[gpc + 8 * (tpc / 4)] >> tpc % 4 * 8 & 0xff, id);
    }
    EXPECT_EQ(reg(0x405000 + 4 * 18), no_register);
    EXPECT_EQ(reg(0x405100 + 4 * 24), no_register);
}

// A logical GPC has as many TPCs as the fuses of its physical GPC leave.
TEST_P(Captured, LogicalGpcsArePhysicalOnesInAnotherOrder) {
    std::uint32_t seen = 0;
    for (std::uint32_t gpc = 0; gpc < 8; gpc++) {
        const std::uint32_t physical = reg(0xcc00 + 4 * gpc) >> 16 & 0x1f;
        seen |= 1u << physical;
        unsigned count = 0;
        for (const Numbers &line : driver["tpc"])
            count += line[1] == gpc;
        EXPECT_EQ(static_cast<unsigned>(__builtin_popcount(driver["tpcs"].at(physical)[1])), count);
        EXPECT_EQ(reg(0x405870) >> 4 * gpc & 0xf, count);
    }
    EXPECT_EQ(seen, 0xffu);
}

TEST_P(Captured, BarsAndMemoryAreTheDrivers) {
    const std::uint64_t memory = nvdebug_video_memory_ga102(reg(0x1183a4));
    EXPECT_EQ(memory >> 20, GetParam() == std::string("h100") ? 81559u : 143771u);
    EXPECT_EQ(reg(0x10fd40), (memory >> 16) - 16) << "the driver's window is the last MiB";
    for (int bar = 1; bar <= 2; bar++) {
        const std::uint32_t low = bar == 1 ? 0xb80f60 : 0xb80f70;
        nvdebug_bar_block block{};
        nvdebug_bar_block_gh100(reg(low), reg(low + 4), &block);
        EXPECT_TRUE(block.is_virtual);
        EXPECT_FALSE(block.busy);
        EXPECT_LT(block.inst, memory);
        EXPECT_GT(block.inst, memory - (256u << 20));
    }
    for (std::uint32_t offset = 0x1700; offset < 0x1720; offset += 4)
        EXPECT_EQ(reg(offset), no_register) << "PBUS has neither window nor BARs";
}

INSTANTIATE_TEST_SUITE_P(Gpus, Captured, testing::Values("h100", "h200"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
