// SPDX-License-Identifier: MIT OR GPL-2.0
// The PRAMIN window, BAR1 and BAR2, system memory, and instance blocks found through them.
#include "support.hpp"

#include "regs/ramin.hpp"

namespace nvmodel::test {
namespace {

using namespace regs::ramin;

TEST(VideoMemory, ReadsWhatWasWrittenAcrossPages) {
    VideoMemory memory(1 << 20);
    const std::array<std::byte, 6> in{std::byte{1}, std::byte{2}, std::byte{3},
                                      std::byte{4}, std::byte{5}, std::byte{6}};
    ASSERT_TRUE(memory.write(0xffd, in));
    std::array<std::byte, 6> out{};
    ASSERT_TRUE(memory.read(0xffd, out));
    EXPECT_EQ(in, out);
    ASSERT_TRUE(memory.read(0x2000, out));
    EXPECT_EQ(out, (std::array<std::byte, 6>{}));
}

TEST(VideoMemory, AccessesBeyondItsEndFail) {
    VideoMemory memory(1 << 20);
    std::array<std::byte, 4> word{};
    EXPECT_TRUE(memory.read((1 << 20) - 4, word));
    EXPECT_FALSE(memory.read((1 << 20) - 3, word));
    EXPECT_FALSE(memory.read(~0ULL - 1, word));
    EXPECT_FALSE(memory.write(~0ULL - 1, word));
}

TEST(Window, PlacesTheAperture) {
    Bench bench("a100", "idle");
    bench.poke({Aperture::video, 0x2'0010'0abc}, 0xcafe1234);
    bench.write(0x1700, 0x20010);
    EXPECT_EQ(bench.read(0x700abc), 0xcafe1234U);
    bench.write(0x1700, 0x20001); // the aperture is 1 MiB, the granularity 64 KiB
    EXPECT_EQ(bench.read(0x7f0abc), 0xcafe1234U);
    EXPECT_EQ(bench.read(0x1700), 0x20001U);
    bench.write(0x1700, 0xffffffff);
    EXPECT_EQ(bench.read(0x1700), 0x03ffffffU) << "bits 31:26 hold nothing";
    bench.expect_no_violations();
}

TEST(Window, TakesBytesAndHalfWords) {
    Bench bench("titan-v", "idle");
    bench.gpu.bar_write(Bar::registers, 0x700000, 0x11223344, 4);
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x700001, 1), 0x33U);
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x700002, 2), 0x1122U);
    bench.gpu.bar_write(Bar::registers, 0x700003, 0xee, 1);
    EXPECT_EQ(bench.gpu.bar_read(Bar::registers, 0x700000, 4), 0xee223344U);
    bench.expect_no_violations();
}

TEST(Window, LeadsToSystemMemory) {
    Bench bench("titan-v", "idle");
    bench.poke({Aperture::coherent, 0x10000040}, 0x5a5aa5a5);
    std::array<std::byte, 4> seen{};
    ASSERT_TRUE(bench.guest.read(0x10000040, seen));
    EXPECT_EQ(seen[0], std::byte{0xa5});
    EXPECT_EQ(bench.peek({Aperture::noncoherent, 0x10000040}), 0x5a5aa5a5U);
    EXPECT_EQ(bench.peek({Aperture::video, 0x10000040}), 0U);
    bench.expect_no_violations();
}

TEST(Window, MissingMemoryReadsAsError) {
    Bench bench("gtx1060-3gb", "idle");
    EXPECT_EQ(bench.peek({Aperture::coherent, 0x20000000}), 0xffffffffU);
    EXPECT_EQ(bench.peek({Aperture::video, 0xc0000000}), 0xbad0fb00U) << "3 GiB and no more";
    bench.write(0x1700, 0x01000000); // there is no target 1
    EXPECT_EQ(bench.read(0x700000), 0xbad0fb00U);
    ASSERT_EQ(bench.gpu.violations().records().size(), 1U) << "the same offset each time";
    EXPECT_EQ(bench.gpu.violations().records()[0].why, Violation::memory);
    EXPECT_EQ(bench.gpu.violations().records()[0].count, 3U);
}

TEST(Bars, PhysicalModeShowsVideoMemory) {
    Bench bench("titan-v", "idle");
    bench.gpu.bar_write(Bar::framebuffer, 0x3fffff8, 0x1122334455667788, 8);
    EXPECT_EQ(bench.peek({Aperture::video, 0x3fffffc}), 0x11223344U);
    bench.poke({Aperture::video, 0x1234560}, 0x99);
    EXPECT_EQ(bench.gpu.bar_read(Bar::instance, 0x1234560, 1), 0x99U);
    bench.expect_no_violations();
}

TEST(Bars, BlockRegistersHaveACopyFromTuringOn) {
    Bench turing("rtx2080ti", "idle");
    turing.write(0xb80f48, 0xffffffff);
    EXPECT_EQ(turing.read(0xb80f48), 0xffffffffU);
    EXPECT_EQ(turing.read(0x1714), 0xffffffffU);
    turing.write(0x1704, 0x12345678);
    EXPECT_EQ(turing.read(0xb80f40), 0x12345678U & 0xbfffffff) << "bit 30 is BAR2's only";
    EXPECT_EQ(turing.read(0xb80f50), 0U);
    turing.expect_no_violations();
    Bench volta("titan-v", "idle");
    EXPECT_EQ(volta.read(0xb80f48), 0xbadf1100U);
}

/// The three tasks' instance blocks hold what a driver writes.
class InstanceBlocks : public testing::TestWithParam<const char *> {};

PhysicalAddress instance_of(Bench &bench, unsigned channel) {
    return bench.gpu.chip().host().channel(channel).instance;
}

TEST_P(InstanceBlocks, PageDirectoriesDifferByTask) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    std::vector<std::uint64_t> directories;
    for (unsigned channel = 0; channel < 6; ++channel) {
        const PhysicalAddress at = instance_of(*bench, channel);
        const auto word = [&](unsigned n) {
            return bench->peek({at.aperture, at.address + 4 * n});
        };
        const std::map<std::string_view, std::uint32_t> low_bits{
            {"kepler", 0},
            {"maxwell-gm20x", 0x800}, // 64 KiB pages
            {"volta-gv11b", 0xc06},   // coherent, volatile
            {"ampere-ga10b", 0xc06},
            {"hopper", 0x800}, // bit 10 stands for version 2 alone
            {"blackwell-gb10x", 0x800},
            {"blackwell-gb20x", 0x800}};
        const auto found = low_bits.find(bench->gpu.board().generation->name);
        EXPECT_EQ(word(pdb_lo) & 0xfff, found != low_bits.end() ? found->second : 0xc00U)
            << "video memory; from Pascal to Ada v2 tables";
        directories.push_back(join(word(pdb_hi), word(pdb_lo) & 0xfffff000));
        EXPECT_NE(word(engine_wfi_lo) & 0x4, 0U) << "engine context by virtual address";
    }
    EXPECT_EQ(directories[0], directories[1]);
    EXPECT_EQ(directories[2], directories[3]);
    EXPECT_NE(directories[0], directories[2]);
    EXPECT_NE(directories[2], directories[4]);
    EXPECT_NE(directories[0], directories[4]);
    bench->expect_no_violations();
}

TEST_P(InstanceBlocks, SubcontextTableFromVoltaOn) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    const PhysicalAddress at = instance_of(*bench, 3);
    const auto word = [&](unsigned n) { return bench->peek({at.aperture, at.address + 4 * n}); };
    if (!bench->gpu.board().generation->subcontexts) {
        EXPECT_EQ(word(sc_valid_0), 0U);
        EXPECT_EQ(word(fc_signature), 0xfaceU);
        EXPECT_EQ(word(fc_chid), 3U);
        EXPECT_EQ(word(fc_timeslice), 0x100030f4U); // on, scale 3, timeout 244
        return;
    }
    EXPECT_EQ(word(sc_valid_0), 1U);
    EXPECT_EQ(word(sc_valid_0 + 1), 0U);
    EXPECT_EQ(word(sc_pdb), word(pdb_lo) | 0x400) << "bit 10 is set here in all versions";
    EXPECT_EQ(word(sc_pdb + 1), word(pdb_hi));
    EXPECT_EQ(word(sc_pdb + 4), 1U) << "unused entries";
    EXPECT_EQ(word(sc_pdb + 5), 1U);
    const bool known = bench->gpu.board().generation->instance.ramfc == RamfcForm::gk104;
    EXPECT_EQ(word(fc_set_channel_info), known ? 3U << 16 : 0);
}

INSTANTIATE_TEST_SUITE_P(Boards, InstanceBlocks, testing::ValuesIn(boards), test_name);

TEST(InstanceBlocks, MpsClientsShareATable) {
    auto bench = Bench::started("titan-v", "fig7");
    const auto word = [&](unsigned channel, unsigned n) {
        const PhysicalAddress at = instance_of(*bench, channel);
        return bench->peek({at.aperture, at.address + 4 * n});
    };
    const std::map<unsigned, unsigned> subcontext{{2, 0}, {3, 1}, {4, 1}, {5, 2}, {6, 2}};
    for (const auto &[channel, veid] : subcontext) {
        EXPECT_EQ(word(channel, sc_valid_0), 0x7U);
        for (unsigned i = 0; i < 3; ++i)
            EXPECT_EQ(word(channel, sc_pdb + 4 * i), word(2, sc_pdb + 4 * i));
        EXPECT_EQ(word(channel, engine_wfi_veid), veid);
        EXPECT_EQ(word(channel, fc_set_channel_info) >> 8 & 0x3f, veid);
        EXPECT_EQ(word(channel, pdb_lo), word(2, sc_pdb + 4 * veid))
            << "other engines use the client's own directory";
    }
}

} // namespace
} // namespace nvmodel::test
