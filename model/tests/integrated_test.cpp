// SPDX-License-Identifier: MIT OR GPL-2.0
// Integrated GPUs: platform devices without memory of their own.
#include "started.hpp"

#include "mmu/translate.hpp"
#include "regs/ctxsw.hpp"
#include "regs/ramin.hpp"

namespace nvmodel::test {
namespace {

class Integrated : public testing::TestWithParam<const char *> {};

bool in_range(std::uint64_t address) {
    return address >= sysmem_range.base && address - sysmem_range.base < sysmem_range.size;
}

TEST_P(Integrated, TheVehicleHasTheTwoRegionsAsBars) {
    const std::map<std::string, std::uint32_t> device{
        {"jetson-tx2", 0x6710}, {"jetson-xavier", 0x6711}, {"jetson-orin", 0x6712}};
    Bench bench(GetParam(), "idle");
    EXPECT_EQ(bench.gpu.config_read(0x00, 4), device.at(GetParam()) << 16 | 0x1234);
    EXPECT_EQ(bench.gpu.config_read(0x08, 4), 0xff000000U);
    for (std::uint32_t at = 0x10; at < 0x28; at += 4) {
        bench.gpu.config_write(at, 0xffffffff, 4);
        EXPECT_EQ(bench.gpu.config_read(at, 4), at <= 0x14 ? 0xff000000U : 0U) << at;
    }
    bench.gpu.config_write(0x10, 0xf0000000, 4);
    bench.gpu.config_write(0x04, 0x2, 2);
    EXPECT_EQ(bench.gpu.memory_read(0xf0000000, 4), bench.gpu.board().chip.boot_0);
}

TEST_P(Integrated, StructuresAreInTheGuestsMemory) {
    for (const char *name : {"three-tasks", "fig6", "sysmem", "mixed", "page-tables"}) {
        Started started(GetParam(), name);
        const auto structures = started.bench.gpu.driver().structures();
        EXPECT_GT(structures.size(), 10U);
        for (const Structure &structure : structures) {
            EXPECT_TRUE(in_range(structure.at.address)) << name << structure.what;
            std::vector<std::byte> bytes(structure.size);
            EXPECT_TRUE(started.bench.guest.read(structure.at.address, bytes)) << name;
        }
    }
}

TEST_P(Integrated, AperturesAreAsTheChipTakesThem) {
    const bool ignored = GetParam() == std::string("jetson-tx2");
    const Workload noncoherent =
        workload_of(R"({"task":"a","engine":"GR0","channels":[{"work":"busy"}]})",
                    R"("runlist_aperture":"ncoh","instance_aperture":"ncoh",)");
    Started started(GetParam(), noncoherent);
    const Json layout = started.ask("layout");
    const char *const wanted = ignored ? "vid" : "ncoh";
    EXPECT_EQ(layout["runlists"][0]["aperture"], wanted);
    EXPECT_EQ(layout["channels"][0]["instance"]["aperture"], wanted);
    EXPECT_EQ(layout["channels"][0]["page_directory"]["aperture"], ignored ? "vid" : "coh")
        << "the default";
    started.bench.advance_us(10'000);
    EXPECT_GT(started.bench.progress().at("a"), 9'000);
    started.bench.expect_no_violations();
}

TEST_P(Integrated, WindowDoesNotExist) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    EXPECT_EQ(bench->read(0x1700), 0U) << "nobody moves it";
    bench->expect_no_violations();
    EXPECT_EQ(bench->read(0x700000), 0xbadf1100U);
    ASSERT_EQ(bench->gpu.violations().records().size(), 1U);
    EXPECT_EQ(bench->gpu.violations().records()[0].why, Violation::unmodelled);
}

TEST_P(Integrated, Bar1ShowsNoMemoryBeforeItIsBound) {
    Bench bench(GetParam(), "idle");
    EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0, 4), 0xbad0ac00U);
    ASSERT_EQ(bench.gpu.violations().records().size(), 1U);
    EXPECT_EQ(bench.gpu.violations().records()[0].why, Violation::memory);
}

/// Bits from 36 on steer an address on its way through the SoC.
TEST_P(Integrated, NoAddressUsesTheBitsOfTheSmmu) {
    for (const char *name : {"three-tasks", "page-tables"}) {
        Started started(GetParam(), name);
        const Json layout = started.ask("layout");
        EXPECT_FALSE(layout["address_spaces"].empty());
        for (const Json &space : layout["address_spaces"])
            for (const Json &mapping : space["mappings"]) {
                EXPECT_LT(number(mapping["address"]), 1ULL << 36) << mapping;
                EXPECT_NE(mapping["aperture"], "peer");
            }
    }
}

TEST_P(Integrated, RestartLeavesNothingOfThePreviousWorkload) {
    Started started(GetParam(), "three-tasks");
    const auto bytes_of = [&] {
        std::vector<std::byte> all(sysmem_range.size);
        EXPECT_TRUE(started.bench.guest.read(sysmem_range.base, all));
        return all;
    };
    const auto before = bytes_of();
    started.bench.advance_us(50'000); // contexts count saves
    EXPECT_NE(bytes_of(), before);
    started.bench.gpu.restart(nullptr);
    EXPECT_EQ(bytes_of(), before);
}

TEST_P(Integrated, WorkloadsThatNeedVideoMemoryAreRefused) {
    const std::string prefix =
        " does not fit board " + std::string(GetParam()) + ", which has no video memory: ";
    const auto refusal = [&](const Workload &work) {
        return config_error([&] { make_plan(work, board(GetParam())); });
    };
    EXPECT_EQ(refusal(workload("low")),
              "workload low" + prefix + "its structures are to lie low in it");
    EXPECT_EQ(refusal(workload("bars")), "workload bars" + prefix + "BAR2 is to show it");
    EXPECT_EQ(refusal(workload_of(R"({"task":"a","engine":"GR0","channels":[{}]})",
                                  R"("bars":"physical",)")),
              "workload test" + prefix + "BAR1 and BAR2 are to show it");
    EXPECT_EQ(config_error([&] { Gpu(board(GetParam()), workload("idle")); }),
              "workload idle keeps structures in system memory; give it some with --sysmem");
}

INSTANTIATE_TEST_SUITE_P(Boards, Integrated, testing::ValuesIn(integrated), test_name);

TEST(JetsonTx2, Bar1ShowsUserds) {
    auto bench = Bench::started("jetson-tx2", "fig6");
    const PhysicalAddress userd = bench->gpu.driver().channels()[0].block.userd;
    EXPECT_EQ(bench->gpu.bar_read(Bar::framebuffer, 0x400000 + userd.address % 0x1000 + 4 * 35, 4),
              1U)
        << "GP_PUT";
    bench->expect_no_violations();
}

/// RTAS'24 Sec. V-C: compute and copies share the only runlist.
TEST(JetsonTx2, HasOneRunlist) {
    auto bench = Bench::started("jetson-tx2", "copies");
    EXPECT_EQ(bench->gpu.plan().lists.size(), 1U);
    for (const PlannedChannel &channel : bench->gpu.plan().channels)
        EXPECT_EQ(to_string(channel.engine), channel.task == "compute" ? "GR0" : "LCE0");
}

/// Registers of a live gv11b (nvgpu os/posix/mock-registers.c).
TEST(JetsonXavier, AnswersLikeTheMeasuredGv11b) {
    auto bench = Bench::started("jetson-xavier", "idle");
    const std::map<std::uint32_t, std::uint32_t> measured{
        {0x000000, 0x15b000a1}, {0x000004, 0},          {0x000a00, 0x15ba1000},
        {0x022700, 0x8006183e}, {0x022704, 0x80000003}, {0x022708, 0x00400205},
        {0x02270c, 0x88028c3e}, {0x022710, 0x8000004f}, {0x022714, 0x0010407d},
        {0x022718, 0x8c030e3e}, {0x02271c, 0x8000004f}, {0x022720, 0x04104085},
        {0x022724, 0x8423aa3e}, {0x022728, 0x8000004f}, {0x02272c, 0x0810408d},
        {0x022730, 0},          {0x022430, 1},          {0x022434, 4},
        {0x021c1c, 0},          {0x021c38, 0},          {0x405b00, 0x00000401},
        {0x405b60, 0x00010203}, {0x405b64, 0},          {0x405ba0, 0x00010203}};
    for (const auto &[offset, word] : measured)
        EXPECT_EQ(bench->read(offset), word) << std::hex << offset;
    bench->expect_no_violations();
}

/// RTAS'24 Table III, as it is printed.
TEST(JetsonOrin, HasTheEnginesOfTable3) {
    const Board orin = board("jetson-orin");
    std::map<unsigned, std::vector<std::string>> engines;
    for (const EngineRow &row : orin.engines)
        engines[row.runlist.value()].push_back(to_string(row.name));
    EXPECT_EQ(engines, (std::map<unsigned, std::vector<std::string>>{
                           {0, {"GR0", "LCE0", "LCE1"}}, {1, {"LCE2"}}, {2, {"LCE3", "GR1"}}}));
    EXPECT_EQ(orin.engine_slots(), 6U);
}

TEST(JetsonOrin, ContextHeadersAreAsLongAsItsFirmwares) {
    Started started("jetson-orin", "three-tasks");
    const Json layout = started.ask("layout");
    const Json &channel = layout["channels"][0];
    const PhysicalAddress image = place(channel["context"]["image"]);
    const std::map<std::uint32_t, std::uint32_t> words{
        {0x0fc, 0x600dc0de}, {0x100, 0xdeadce11}, {0x1fc, 0xfaceb00c}, {0x200, 0x0baff1ed},
        {0x2fc, 0xca5caded}, {0x3fc, 0xad0becab}, {0x400, 0x1ceb00da}, {0x4fc, 0xf00dbeef},
        {0x500, 0x0dec0ded}, {0x5fc, 0x5caff01d}};
    for (const auto &[offset, word] : words)
        EXPECT_EQ(started.word(image, offset), word) << std::hex << offset;
    EXPECT_EQ(started.word(place(channel["instance"]), 4ULL * 131), 0xcafeca11U);
}

} // namespace
} // namespace nvmodel::test
