// SPDX-License-Identifier: MIT OR GPL-2.0
// PCCSR and channel RAM: the effect of writing each bit.
#include "support.hpp"

namespace nvmodel::test {
namespace {

constexpr std::uint32_t inst_0 = 0x800000;
constexpr std::uint32_t state_0 = 0x800004;

TEST(Pccsr, InstanceAndBind) {
    Bench bench("titan-v", "idle");
    EXPECT_EQ(bench.read(inst_0 + 8 * 7), 0U);
    bench.write(inst_0 + 8 * 7, 0xa0123456); // bound, coherent
    EXPECT_EQ(bench.read(inst_0 + 8 * 7), 0xa0123456U);
    EXPECT_EQ(bench.gpu.chip().host().channel(7).instance,
              (PhysicalAddress{Aperture::coherent, 0x1'2345'6000 & 0xffffffff000}));
    bench.write(inst_0 + 8 * 7, 0x80000001);
    EXPECT_EQ(bench.read(inst_0 + 8 * 7), 0xa0123456U) << "bound already";
    EXPECT_EQ(bench.read(0x252c), 1U);
    bench.write(inst_0 + 8 * 7, 0);
    EXPECT_EQ(bench.read(inst_0 + 8 * 7), 0U);
    bench.write(inst_0 + 8 * 7, 0x90000001); // target 1 does not exist
    EXPECT_EQ(bench.read(0x252c), 6U);
    EXPECT_EQ(bench.read(inst_0 + 8 * 7), 0U);
    bench.expect_no_violations();
}

TEST(Pccsr, UnbindingARunningChannelIsRefused) {
    auto bench = Bench::started("titan-v", "three-tasks");
    bench->advance_us(100);
    bench->write(inst_0, bench->read(inst_0) & 0x7fffffff);
    EXPECT_EQ(bench->read(0x252c), 3U);
    EXPECT_NE(bench->read(inst_0) & 0x80000000, 0U);
}

TEST(Pccsr, EnableAndDisableAreTriggers) {
    Bench bench("gtx1060-3gb", "idle");
    bench.write(state_0 + 8 * 9, 0x400);
    EXPECT_EQ(bench.read(state_0 + 8 * 9), 0x1U) << "the trigger itself is not stored";
    bench.write(state_0 + 8 * 9, 0x0);
    EXPECT_EQ(bench.read(state_0 + 8 * 9), 0x1U) << "writing bit 0 does nothing";
    bench.write(state_0 + 8 * 9, 0x800);
    EXPECT_EQ(bench.read(state_0 + 8 * 9), 0x0U);
    bench.write(state_0 + 8 * 9, 0x1);
    EXPECT_EQ(bench.read(state_0 + 8 * 9), 0x0U);
    EXPECT_EQ(bench.read(state_0 + 8 * 8), 0x0U);
    EXPECT_EQ(bench.read(state_0 + 8 * 10), 0x0U);
    bench.expect_no_violations();
}

TEST(Pccsr, NextIsStored) {
    Bench bench("gtx1060-3gb", "idle");
    bench.write(state_0, 0x2);
    EXPECT_EQ(bench.read(state_0), 0x2U);
    bench.write(state_0, 0x400);
    EXPECT_EQ(bench.read(state_0), 0x1U) << "a write without NEXT clears it";
}

TEST(Pccsr, ForcedReloadShowsInStatus) {
    Bench bench("titan-v", "idle");
    bench.write(state_0 + 8 * 5, 0x200); // FORCE_PENDING
    EXPECT_EQ(bench.read(state_0 + 8 * 5), 0x01000000U);
    bench.write(state_0 + 8 * 5, 0x100); // FORCE_CTX_RELOAD
    EXPECT_EQ(bench.read(state_0 + 8 * 5), 0x02000000U);
}

TEST(Pccsr, LoadingReloads) {
    auto bench = Bench::started("titan-v", "three-tasks");
    bench->advance_us(100);
    bench->write(state_0 + 8 * 2, 0x100);
    EXPECT_EQ(bench->state(2), "PENDING_CTX_RELOAD");
    bench->advance_us(2100);
    EXPECT_TRUE(bench->state(2) == "ON_PBDMA_AND_ENG" || bench->state(2) == "ON_ENG_PENDING");
}

TEST(Pccsr, FaultsAreClearedByWritingOnes) {
    Bench bench("rtx2080ti", "idle");
    bench.write(state_0, 0x400);
    bench.write(state_0, 1U << 20); // Turing can force them
    EXPECT_EQ(bench.read(state_0), 0x00400001U);
    bench.write(state_0, 1U << 21);
    EXPECT_EQ(bench.read(state_0), 0x00c00001U);
    bench.write(state_0, 0x800);
    EXPECT_EQ(bench.read(state_0), 0x00c00000U) << "zeroes acknowledge nothing";
    bench.write(state_0, 1U << 22);
    EXPECT_EQ(bench.read(state_0), 0x00800000U);
    bench.write(state_0, 0xffffffff & ~(1U << 20 | 1U << 21));
    EXPECT_EQ(bench.read(state_0) & 0x00c00000, 0U);
}

TEST(Pccsr, VoltaHasFaultBitsButCannotForceThem) {
    Bench bench("titan-v", "idle");
    bench.write(state_0, 1U << 20 | 1U << 21);
    EXPECT_EQ(bench.read(state_0), 0U);
    auto mixed = Bench::started("titan-v", "mixed");
    EXPECT_EQ(mixed->read(state_0 + 8 * 50) & 0x00c00000, 0x00800000U);
    EXPECT_EQ(mixed->read(state_0 + 8 * 72) & 0x00c00000, 0x00400000U);
    // A careless read-modify-write acknowledges the fault.
    mixed->write(state_0 + 8 * 50, mixed->read(state_0 + 8 * 50) | 0x800);
    EXPECT_EQ(mixed->read(state_0 + 8 * 50) & 0x00c00000, 0U);
}

TEST(Pccsr, PascalHasNoFaultBits) {
    auto bench = Bench::started("gtx1060-3gb", "mixed");
    EXPECT_EQ(bench->read(state_0 + 8 * 50), 0x01000000U) << "kept disabled instead";
    bench->write(state_0, 1U << 20 | 1U << 21);
    EXPECT_EQ(bench->read(state_0) & 0x00f00000, 0U);
}

TEST(Pccsr, KeplersRunlistOfAChannel) {
    auto bench = Bench::started("quadro-k5000", workload_of(R"(
        {"task":"copies","engine":"LCE2","channels":[{"id":7,"work":"busy"}]})"));
    const std::uint32_t state = state_0 + 8 * 7;
    bench->advance_us(100);
    EXPECT_EQ(bench->read(state), 0x16040001U) << "on PBDMA and engine, of runlist 4, enabled";
    bench->write(state, 0x00040800); // disabled; the runlist is kept
    EXPECT_EQ(bench->read(state) & 0x000f0001, 0x00040000U);
    bench->write(state, 0x00040400);
    EXPECT_GT(bench->gained(10'000).at("copies"), 9'000);
    bench->write(state, 0x00000800); // a write that forgets the runlist moves the channel to 0
    bench->advance_us(3'000);
    bench->write(state, 0x00000400);
    EXPECT_EQ(bench->gained(10'000).at("copies"), 0);
    Bench maxwell("gtx980", "idle");
    maxwell.write(state, 0x000f0000);
    EXPECT_EQ(maxwell.read(state), 0U) << "Kepler only";
}

TEST(Pccsr, StatusWords) {
    auto bench = Bench::started("gtx1060-3gb", "three-tasks");
    // The PBDMA changes channels every 16.384 us, but not while the test looks.
    bench->advance_us(105);
    unsigned on_pbdma = 0;
    for (unsigned channel = 0; channel < 6; ++channel) {
        // The word has all bits except for NEXT.
        const std::uint32_t word = bench->read(state_0 + 8 * channel) & ~0x2U;
        if (word == 0x16000001) // on PBDMA and engine, busy, enabled
            ++on_pbdma;
        else if (channel < 2)
            EXPECT_EQ(word, 0x19000001U) << "on the engine, more to come";
        else
            EXPECT_EQ(word, 0x01000001U) << "pending";
    }
    EXPECT_EQ(on_pbdma, 1U);
}

TEST(Chram, OnesSetOrClear) {
    Bench bench("a100", "idle");
    const std::uint32_t word = 0xe00000 + 4 * 9;
    bench.write(word, 0x2);
    EXPECT_EQ(bench.read(word), 0x2U);
    bench.write(word, 0x200);
    EXPECT_EQ(bench.read(word), 0x202U) << "only the ones count";
    bench.write(word, 0x3);
    EXPECT_EQ(bench.read(word), 0x200U);
    bench.write(word, 0x201);
    EXPECT_EQ(bench.read(word), 0x0U);
    bench.write(word, 0x1136); // ENABLE NEXT PBDMA_FAULTED ENG_FAULTED PENDING ACQUIRE_FAIL
    EXPECT_EQ(bench.read(word), 0x1136U);
    bench.write(word, 0x11);
    EXPECT_EQ(bench.read(word), 0x1126U);
    bench.write(word, 0x21);
    EXPECT_EQ(bench.read(word), 0x1106U);
    bench.write(word, 0xcc8); // read-only bits
    EXPECT_EQ(bench.read(word), 0x1106U);
    bench.write(word, 0xffffffff);
    EXPECT_EQ(bench.read(word), 0U) << "CLEAR_CHANNEL";
    bench.expect_no_violations();
}

TEST(Chram, RunlistsHaveTheirOwn) {
    Bench bench("a100", "idle");
    bench.write(0xe00000 + 4 * 5, 0x2);
    EXPECT_EQ(bench.read(0xe02000 + 4 * 5), 0U);
    bench.write(0xe02000 + 4 * 5, 0x2);
    bench.write(0xe00000 + 4 * 5, 0x3);
    EXPECT_EQ(bench.read(0xe02000 + 4 * 5), 0x2U);
}

TEST(Chram, StatusWords) {
    auto bench = Bench::started("rtx6000-ada", "three-tasks");
    // The PBDMA changes channels every 16.384 us, but not while the test looks.
    bench->advance_us(105);
    unsigned on_pbdma = 0;
    for (unsigned channel = 0; channel < 6; ++channel) {
        // The word has all bits except for NEXT.
        const std::uint32_t word = bench->read(0xe00000 + 4 * channel) & ~0x4U;
        if (word == 0xcca) // enabled, on PBDMA and engine, all busy bits
            ++on_pbdma;
        else
            EXPECT_EQ(word, channel < 2 ? 0x98aU : 0x102U);
    }
    EXPECT_EQ(on_pbdma, 1U);
}

TEST(Channels, EveryIdHasARegister) {
    Bench pascal("gtx1060-3gb", "idle");
    EXPECT_EQ(pascal.read(state_0 + 8 * 4095), 0U);
    pascal.expect_no_violations();
    EXPECT_EQ(pascal.read(state_0 + 8 * 4096), 0xbadf5040U);
    Bench ampere("a100", "idle");
    EXPECT_EQ(ampere.read(0xe00000 + 4 * 2047), 0U);
    ampere.expect_no_violations();
    EXPECT_EQ(ampere.read(state_0), 0xbadf1100U) << "no PCCSR from Ampere on";
}

} // namespace
} // namespace nvmodel::test
