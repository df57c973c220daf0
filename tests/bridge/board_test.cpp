// SPDX-License-Identifier: MIT OR GPL-2.0
// The h200 board against the words that another H200 and an H100 answered while they were
// identified and their wiring was read (tests/hardware). What differs from card to card is named,
// all of it.
#include "lib/nvdebug/tree_impl.hpp"

#include "board/board.hpp"
#include "device/gpu.hpp"
#include "driver/tpc_numbers.hpp"
#include "workload/workload.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace {

using nvmodel::Bar;
namespace fs = std::filesystem;
using Registers = std::map<std::uint32_t, std::uint32_t>;
using Names = std::set<std::string>;

const fs::path data = NVDEBUG_MODEL_DATA;

nvmodel::Board h200_board() {
    return nvmodel::load_board(data / "boards" / "h200.json");
}

/// Returns the captured registers that do not change while a GPU runs.
Registers captured(const std::string &card) {
    const auto capture = nvdebug::Tree::capture(std::string(HARDWARE) + "/" + card + "/capture");
    EXPECT_TRUE(capture) << capture.error().sentence;
    const auto words = capture->impl().words();
    Registers all;
    for (const char *const name : {"gpu0", "gpu0/copy_topology", "gpu0/work_distributor"}) {
        std::istringstream lines(words.at(name));
        unsigned offset = 0;
        for (unsigned value = 0; lines >> std::hex >> offset >> value;)
            all[offset] = value;
        EXPECT_TRUE(lines.eof()) << name;
    }
    return all;
}

/// Returns the thing to which a register belongs, if cards may differ in it; else the register's
/// offset.
std::string name_of(std::uint32_t offset) {
    std::ostringstream name;
    if (offset >= 0x22800 && offset < 0x22a18)
        name << "device " << (offset - 0x22800) / 12;
    else if (offset >= 0x820c38 && offset < 0x820c58)
        name << "TPCs that are off";
    else if (offset >= 0x405000 && offset < 0x405160)
        name << "order of TPCs";
    else if (offset == 0x1183a4)
        name << "memory size";
    else if (offset >= 0xc00000 && offset < 0xc08800)
        name << "runlist block " << std::hex << (offset & ~0x3ffU);
    else
        name << std::hex << offset;
    return name.str();
}

/// Returns the bits of a register that stay. ENGINE_STATUS_DEBUG keeps the engine's id in 29:24.
std::uint32_t lasting_bits(std::uint32_t offset) {
    const bool debug = offset >= 0xc00000 && offset < 0xc08800 && offset % 0x40 == 0x28 &&
                       (offset & 0x3ff) >= 0x228;
    return debug ? 0x3f000000 : 0xffffffff;
}

/// Returns the names of the registers in which the board differs from the captured values.
Names different(const Registers &registers) {
    nvmodel::Gpu gpu(h200_board(), nvmodel::load_workload(data / "workloads" / "idle.json"));
    gpu.start();
    Names found;
    for (const auto &[offset, value] : registers)
        if ((gpu.bar_read(Bar::registers, offset, 4) ^ value) & lasting_bits(offset))
            found.insert(name_of(offset));
    return found;
}

/// Returns the devices that are fused off: their rows in PTOP are zero. @p read returns words of a
/// capture, or of the board.
Names fused_off(const std::function<std::uint32_t(std::uint32_t)> &read) {
    Names all;
    for (std::uint32_t row = 0x22800; row < 0x22800 + 42 * 12; row += 12)
        if (!read(row) && !read(row + 4) && !read(row + 8))
            all.insert(name_of(row));
    return all;
}

TEST(Board, EqualsTheH200ExceptFusedOffDevices) {
    const Registers h200 = captured("h200-580.159.04");
    EXPECT_GT(h200.size(), 340U);
    // The pairs are NVDEC0 and NVDEC2, and NVJPG0 and NVJPG1. The board has one of each pair and
    // the card has the other, so the card also has the runlists 4 and 7. The order of TPCs is the
    // same.
    EXPECT_EQ(different(h200),
              (Names{"device 9", "device 11", "device 27", "device 28", "runlist block c04000",
                     "runlist block c06400", "TPCs that are off"}));
    const Names off = fused_off([&](std::uint32_t offset) { return h200.at(offset); });
    EXPECT_TRUE(off.contains("device 11") && off.contains("device 27"));
    EXPECT_FALSE(off.contains("device 9") || off.contains("device 28"));
}

TEST(Board, EqualsTheH100ExceptTpcsAndMemory) {
    EXPECT_EQ(different(captured("h100-580.159.04")),
              (Names{"TPCs that are off", "order of TPCs", "memory size"}));
}

/// The second and third table of TPCs follow from the first one, on the card as on the board.
TEST(Board, PutsTpcsIntoTablesAsTheH100Does) {
    const Registers h100 = captured("h100-580.159.04");
    nvmodel::Board board = h200_board();
    board.geometry.tpc_order.clear();
    for (unsigned id = 0; id < 66; id++) {
        const std::uint32_t place = h100.at(0x405000 + id / 4 * 4) >> (id % 4 * 8) & 0xff;
        board.geometry.tpc_order.push_back({place >> 4, place & 0xf});
    }
    const nvmodel::WorkDistributorWords words = nvmodel::encode_work_distributor(board);
    EXPECT_EQ(words.fs, h100.at(0x405b00));
    ASSERT_EQ(words.sm_id.size(), 24U);
    for (std::uint32_t i = 0; i < 24; ++i)
        EXPECT_EQ(words.sm_id[i], h100.at(0x405100 + 4 * i)) << i;
}

} // namespace
