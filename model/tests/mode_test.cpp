// SPDX-License-Identifier: MIT OR GPL-2.0
// Modes that firmware sets up, and the registers that show them.
#include "support.hpp"

#include "control/catalog.hpp"
#include "control/requests.hpp"

#include <nlohmann/json.hpp>

namespace nvmodel::test {
namespace {

using Json = nlohmann::json;
using Modes = std::vector<std::pair<std::string_view, bool>>;

constexpr std::uint32_t scratch = 0x1404;
constexpr std::uint32_t arbiter = 0xcc80;
constexpr std::uint32_t confidential_gh100 = 0x1182cc;
constexpr std::uint32_t confidential_gb100 = 0x590;

TEST(Mode, EachBoardHasItsOwn) {
    for (const char *name : boards) {
        Modes expected;
        const std::string board = name;
        if (board == "a100" || board == "jetson-orin")
            expected = {{"mig", false}};
        if (board == "h200" || board == "b200")
            expected = {{"mig", false}, {"cc", false}};
        EXPECT_EQ(Bench(board, "idle").gpu.modes(), expected) << board;
    }
}

TEST(Mode, MigOfA100) {
    Bench bench("a100", "idle");
    EXPECT_EQ(bench.read(scratch), 0U);
    EXPECT_EQ(bench.read(arbiter), 0U);
    ASSERT_TRUE(bench.gpu.set_mode("mig", true));
    EXPECT_EQ(bench.read(scratch), 0x8000U);
    EXPECT_EQ(bench.read(arbiter), 1U);
    bench.expect_no_violations();
    EXPECT_FALSE(bench.gpu.set_mode("cc", true));
}

TEST(Mode, MigFromHopperOnIsToldByTheArbiter) {
    for (const auto &[name, word] : {std::pair("h200", 0x8cU), std::pair("b200", 0U)}) {
        Bench bench(name, "idle");
        EXPECT_EQ(bench.read(arbiter), 0U) << name;
        ASSERT_TRUE(bench.gpu.set_mode("mig", true));
        EXPECT_EQ(bench.read(scratch), word) << name;
        EXPECT_EQ(bench.read(arbiter), 1U) << name;
        bench.expect_no_violations();
    }
}

TEST(Mode, ConfidentialComputing) {
    for (const auto &[name, own, others] :
         {std::tuple("h200", confidential_gh100, confidential_gb100),
          std::tuple("b200", confidential_gb100, confidential_gh100)}) {
        Bench bench(name, "idle");
        EXPECT_EQ(bench.read(own), 0U) << name;
        ASSERT_TRUE(bench.gpu.set_mode("cc", true));
        EXPECT_EQ(bench.read(own), 1U) << name;
        EXPECT_EQ(bench.read(arbiter), 0U) << name;
        bench.expect_no_violations();
        EXPECT_EQ(bench.read(others) >> 16, 0xbadfU) << name;
        bench.write(own, 0);
        EXPECT_EQ(bench.read(own), 1U) << name;
        EXPECT_EQ(bench.gpu.violations().records().back().why, Violation::read_only);
    }
}

TEST(Mode, OtherBoardsHaveNoneOfTheRegisters) {
    for (const char *name : {"rtx2080ti", "rtx-a6000", "rtx6000-ada", "rtx5090", "jetson-xavier"}) {
        Bench bench(name, "idle");
        for (const std::uint32_t offset :
             {scratch, arbiter, confidential_gh100, confidential_gb100})
            EXPECT_EQ(bench.read(offset) >> 16, 0xbadfU) << name << std::hex << " " << offset;
        EXPECT_FALSE(bench.gpu.set_mode("mig", true));
        EXPECT_FALSE(bench.gpu.set_mode("cc", true));
    }
}

TEST(Mode, StaysOverAReset) {
    Bench bench("h200", "idle");
    bench.gpu.set_mode("mig", true);
    bench.gpu.set_mode("cc", true);
    bench.gpu.reset();
    bench.gpu.restart(nullptr);
    EXPECT_EQ(bench.read(arbiter), 1U);
    EXPECT_EQ(bench.read(confidential_gh100), 1U);
    bench.gpu.set_mode("mig", false);
    EXPECT_EQ(bench.read(arbiter), 0U);
}

/// The blocks around the mode registers keep their other registers.
TEST(Mode, NeighbouringRegistersStay) {
    Bench bench("b200", "idle");
    EXPECT_EQ(bench.read(0xa00), bench.gpu.board().chip.boot_42);
    EXPECT_EQ(bench.read(0x58c), 0xbadf5040U);
    EXPECT_EQ(bench.read(0x594), 0xbadf5040U);
    EXPECT_EQ(bench.read(0x1400), 0xbadf5040U);
    EXPECT_EQ(bench.read(0x1408), 0xbadf5040U);
    bench.gpu.violations().reset();
    Bench ampere("a100", "idle");
    ampere.read(0x1704);
    ampere.expect_no_violations();
    EXPECT_EQ(ampere.gpu.statistics().blocks().at(Bar::registers).count("BAR_BLOCK"), 1U);
    ampere.read(scratch);
    EXPECT_EQ(ampere.gpu.statistics().blocks().at(Bar::registers).count("PBUS"), 1U);
}

TEST(Mode, Request) {
    Bench bench("h200", "idle");
    Requests requests(bench.gpu, Catalog(NVDEBUG_MODEL_DATA));
    const auto ask = [&](const std::string &line) { return Json::parse(requests.answer(line)); };
    EXPECT_EQ(ask("mode"), (Json{{"ok", true}, {"modes", {{"mig", false}, {"cc", false}}}}));
    EXPECT_EQ(ask("mode cc 1"), (Json{{"ok", true}, {"modes", {{"mig", false}, {"cc", true}}}}));
    EXPECT_EQ(bench.read(confidential_gh100), 1U);
    EXPECT_EQ(ask("mode cc 0")["modes"]["cc"], false);
    EXPECT_EQ(ask("mode cc 2")["error"], "\"2\" is neither 0 nor 1");
    EXPECT_EQ(ask("mode sriov 1")["error"], "this board has no mode \"sriov\"");
    EXPECT_EQ(ask("mode cc")["error"], "expected 2 arguments, got 1");
    EXPECT_EQ(bench.read(confidential_gh100), 0U);
}

} // namespace
} // namespace nvmodel::test
