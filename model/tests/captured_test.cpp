// SPDX-License-Identifier: MIT OR GPL-2.0
// The h200 board against the words that a real H200 answered (tests/data/h200-registers.txt). Words
// are left out if they differ from card to card (the TPCs that are off) or change (runlists,
// channels).
#include "support.hpp"

#include "driver/tpc_numbers.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace nvmodel::test {
namespace {

using Words = std::map<std::uint32_t, std::uint32_t>;

const std::filesystem::path captured_boards =
    std::filesystem::path(NVDEBUG_MODEL_DATA).parent_path() / "tests" / "data";

std::vector<std::string> lines_of(const std::string &name) {
    std::ifstream file(captured_boards / name);
    EXPECT_TRUE(file) << captured_boards / name;
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line.front() != '#')
            lines.push_back(line);
    return lines;
}

const Words &captured() {
    static const Words words = [] {
        Words all;
        for (const std::string &line : lines_of("h200-registers.txt")) {
            std::istringstream fields(line);
            std::uint32_t offset = 0;
            std::uint32_t value = 0;
            fields >> std::hex >> offset;
            for (; fields >> value; offset += 4)
                all[offset] = value;
            EXPECT_TRUE(fields.eof()) << line;
        }
        return all;
    }();
    return words;
}

class Captured : public testing::Test {
  protected:
    Captured() : bench_(Bench::started("h200", "idle")) {}

    /// Expects that the model answers these bits as the H200 did.
    void same(std::uint32_t offset, std::uint32_t mask = 0xffffffff) {
        const auto word = captured().find(offset);
        ASSERT_NE(word, captured().end()) << std::hex << offset << " was not read";
        EXPECT_EQ(bench_->read(offset) & mask, word->second & mask) << std::hex << offset;
        ++compared_;
    }
    void same_range(std::uint32_t begin, std::uint32_t end, std::uint32_t mask = 0xffffffff) {
        for (std::uint32_t offset = begin; offset < end; offset += 4)
            same(offset, mask);
    }

    std::unique_ptr<Bench> bench_;
    unsigned compared_ = 0;
};

TEST_F(Captured, Identity) {
    for (const std::uint32_t offset : {0x0U, 0x4U, 0xa00U})
        same(offset);
}

TEST_F(Captured, DeviceTable) {
    for (const std::uint32_t scalar : {0x22430U, 0x22434U, 0x22438U, 0x22444U, 0x22454U})
        same(scalar);
    same(0x224fc);
    same_range(0x22800, 0x22800 + 4 * 134);
    bench_->expect_no_violations();
    same(0x22800 + 4 * 134); // there is no such register
}

TEST_F(Captured, CopyWiring) {
    same(0x104028);
    same_range(0x104100, 0x104140);
    same_range(0x1041c0, 0x1041c8);
    bench_->expect_no_violations();
    same(0x104140); // there is no 17th PCE
    same(0x1041c8); // there is no third GRCE
}

TEST_F(Captured, MemorySizeAndWindow) {
    same(0x100ce0);
    same(0x1183a4);
    same(0x10fd40);
    bench_->expect_no_violations();
    same_range(0x1700, 0x1720); // PBUS has none of these registers any more
}

TEST_F(Captured, Modes) {
    for (const std::uint32_t off : {0x1404U, 0xcc80U, 0x1182ccU})
        same(off);
    bench_->expect_no_violations();
}

TEST_F(Captured, Bars) {
    constexpr std::uint32_t all_but_pointer = 0x00000fff;
    same(0xb80f60, all_but_pointer);
    same(0xb80f70, all_but_pointer);
    bench_->expect_no_violations();
    for (const std::uint32_t ga100 : {0xb80f40U, 0xb80f48U, 0xb80f50U})
        same(ga100);
}

TEST_F(Captured, GpcsAndTpcs) {
    same(0x820c1c);
    same(0x405b00);
    same_range(0xcc00, 0xcc10); // GPCs from 4 on are left out: cards differ in which have most TPCs
    same(0x405044);
    bench_->expect_no_violations();
    same(0x405048); // this is the first word after each table
    same(0x405160);
}

TEST_F(Captured, RunlistBlocks) {
    constexpr std::uint32_t engine_id = 0x3f000000;
    for (const RunlistRow &row : bench_->gpu.board().runlists) {
        for (const std::uint32_t at : {0x04U, 0x08U, 0x0cU, 0x10U, 0x14U})
            same(row.base + at);
        same(row.base + 0x228, engine_id);
    }
    for (const unsigned slot : {1U, 2U})
        same(0xc00228 + 0x40 * slot, engine_id);
    EXPECT_EQ(compared_, 32U * 6 + 2);
    bench_->expect_no_violations();
}

/// The words follow from the order that the same GPU's driver reports.
TEST(CapturedTables, AreInTheDriversOrder) {
    Board h200 = board("h200");
    h200.geometry.tpc_order.clear();
    for (const std::string &line : lines_of("h200-driver.txt")) {
        std::istringstream fields(line);
        std::string kind;
        unsigned id = 0;
        unsigned gpc = 0;
        unsigned local = 0;
        unsigned tpc = 0;
        if (fields >> kind >> id >> gpc >> local >> tpc && kind == "tpc") {
            EXPECT_EQ(id, h200.geometry.tpc_order.size());
            h200.geometry.tpc_order.push_back({gpc, tpc});
        }
    }
    ASSERT_EQ(h200.geometry.tpc_order.size(), 66U);
    const WorkDistributorWords words = encode_work_distributor(h200);
    EXPECT_EQ(words.fs, captured().at(0x405b00));
    ASSERT_EQ(words.gpc_tpc_id.size(), 18U);
    for (std::uint32_t i = 0; i < 18; ++i)
        EXPECT_EQ(words.gpc_tpc_id[i], captured().at(0x405000 + 4 * i)) << i;
    ASSERT_EQ(words.sm_id.size(), 24U);
    for (std::uint32_t i = 0; i < 24; ++i)
        EXPECT_EQ(words.sm_id[i], captured().at(0x405100 + 4 * i)) << i;
}

} // namespace
} // namespace nvmodel::test
