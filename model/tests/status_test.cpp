// SPDX-License-Identifier: MIT OR GPL-2.0
// Status registers are right at every instant.
#include "support.hpp"

#include "blocks/context_status.hpp"

#include <set>

namespace nvmodel::test {
namespace {

ContextStatus status(ContextState state, unsigned current, unsigned next) {
    return {state, {true, current}, {true, next}};
}

TEST(StatusWords, TuringEncoding) {
    EXPECT_EQ(status_word_turing(status(ContextState::invalid, 5, 6)), 0U);
    EXPECT_EQ(status_word_turing(status(ContextState::valid, 5, 6)), 0x00003005U);
    EXPECT_EQ(status_word_turing(status(ContextState::load, 5, 6)), 0x1006a000U);
    EXPECT_EQ(status_word_turing(status(ContextState::save, 5, 6)), 0x0000d005U);
    EXPECT_EQ(status_word_turing(status(ContextState::switching, 5, 6)), 0x1006f005U);
    EXPECT_EQ(status_word_turing({ContextState::valid, {false, 5}, {}}), 0x00002005U)
        << "a bare channel";
}

TEST(StatusWords, AmpereEncoding) {
    EXPECT_EQ(status_word_ampere(status(ContextState::invalid, 5, 6)), 0U);
    EXPECT_EQ(status_word_ampere(status(ContextState::valid, 5, 6)), 0x00002005U);
    EXPECT_EQ(status_word_ampere(status(ContextState::load, 5, 6)), 0x0006c000U);
    EXPECT_EQ(status_word_ampere(status(ContextState::save, 5, 6)), 0x0000a005U);
    EXPECT_EQ(status_word_ampere(status(ContextState::switching, 5, 6)), 0x0006e005U);
}

TEST(EngineStatus, Volta) {
    auto bench = Bench::started("titan-v", "three-tasks");
    bench->advance_us(100);
    EXPECT_EQ(bench->read(0x2640), 0x80003000U); // TSG 0, valid, busy
    EXPECT_EQ(bench->read(0x3080), 0x00003000U); // PBDMA 0
    EXPECT_EQ(bench->read(0x3084), 0U);          // PBDMA 1 has nothing
    EXPECT_EQ(bench->read(0x2640 + 8 * 13), 0U); // LCE0
    EXPECT_EQ(bench->read(0x40120) & ~1U, 0U);   // it is channel 0 or 1
    const std::uint32_t instance = bench->read(0x3100);
    EXPECT_EQ(instance, bench->read(0x800000) | 0x80000000);
    EXPECT_EQ(bench->read(0x3000), 0U);
    EXPECT_EQ(bench->read(0x263c), 0U);
    bench->expect_no_violations();
}

TEST(EngineStatus, VoltaDuringASwitch) {
    auto bench = Bench::started("titan-v", "three-tasks");
    std::set<std::uint32_t> engine;
    std::set<std::uint32_t> pbdma;
    for (int i = 0; i < 3500; ++i) {
        engine.insert(bench->read(0x2640));
        pbdma.insert(bench->read(0x3080));
    }
    const std::set<std::uint32_t> expected{0x9000a000,  // loading TSG 0, from nothing
                                           0x80003000,  // TSG 0
                                           0x9001f000,  // 0 -> 1
                                           0x80003001,  // TSG 1
                                           0x9002f001,  // 1 -> 2
                                           0x80003002,  // TSG 2
                                           0x9000f002}; // 2 -> 0
    for (const std::uint32_t word : engine)
        EXPECT_TRUE(expected.contains(word)) << std::hex << word;
    EXPECT_TRUE(engine.contains(0x9001f000)) << "a switch is long enough to be seen";
    EXPECT_TRUE(pbdma.contains(0x1001f000));
}

TEST(EngineStatus, Ampere) {
    auto bench = Bench::started("a100", "three-tasks");
    bench->advance_us(100);
    EXPECT_EQ(bench->read(0xd00200), 0x80002000U); // TSG 0, valid, busy
    EXPECT_EQ(bench->read(0xd00240), 0U);          // LCE0 on the same runlist
    EXPECT_EQ(bench->read(0xd00208) & ~1U, 0x8000U);
    EXPECT_EQ(bench->read(0xd0020c), 0U);
    EXPECT_EQ(bench->read(0x4015c), 0x2000U);
    EXPECT_EQ(bench->read(0x40120) & ~1U, 0x2000U);
    const Channel &channel = bench->gpu.chip().host().channel(0);
    EXPECT_EQ(bench->read(0xd00210), low32(channel.instance.address) | 0x800);
    EXPECT_EQ(bench->read(0xd00214), high32(channel.instance.address));
    EXPECT_EQ(bench->read(0xd00218), 0U);
    EXPECT_EQ(bench->read(0xd00108), 0U) << "neither the list nor an engine is idle";
    bench->expect_no_violations();
}

TEST(EngineStatus, AmpereDuringASwitch) {
    auto bench = Bench::started("a100", "three-tasks");
    std::set<std::uint32_t> engine;
    for (int i = 0; i < 5000; ++i)
        engine.insert(bench->read(0xd00200));
    EXPECT_TRUE(engine.contains(0x8001e000)); // 0 -> 1
    EXPECT_TRUE(engine.contains(0x8002e001)); // 1 -> 2
    EXPECT_TRUE(engine.contains(0x80002002));
}

TEST(EngineStatus, BareChannelsShowTheirType) {
    auto bench = Bench::started("gtx1060-3gb", workload_of(R"(
        {"kind":"channel","task":"bare","engine":"LCE2","id":9,"work":"busy"})"));
    bench->advance_us(100);
    EXPECT_EQ(bench->read(0x2640 + 8 * 5), 0x80002009U);
    EXPECT_EQ(bench->read(0x3080 + 4 * 2), 0x00002009U);
}

TEST(EngineStatus, AContextStaysWhenItsWorkIsDone) {
    auto bench = Bench::started("titan-v", workload_of(R"(
        {"task":"job","engine":"GR0","id":3,"channels":[{"id":8,"work":{"us":100}}]})"));
    bench->advance_us(1000);
    EXPECT_EQ(bench->read(0x2640), 0x00003003U) << "valid, not busy";
    EXPECT_EQ(bench->read(0x3080), 0U);
    EXPECT_EQ(bench->read(0x40120), 8U) << "the last id stays";
    EXPECT_EQ(bench->read(0x800004 + 8 * 8), 0x1U);
}

TEST(EngineStatus, OneActiveTsgPerEngineAndRunlist) { // R4
    auto bench = Bench::started("rtx6000-ada", "copies");
    bench->advance_us(1300);
    unsigned together = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::uint32_t compute = bench->read(0xd00200);
        const std::uint32_t copies = bench->read(0xd00240);
        if (compute == 0x80002000 && copies == 0x80002001)
            ++together;
        EXPECT_NE(compute & 0x8000ffff, 0x80002001U) << "copies never hold the compute engine";
    }
    EXPECT_GT(together, 500U) << "two TSGs of one runlist at once, on different engines";
}

TEST(EngineStatus, FaultedCopyEngine) {
    auto bench = Bench::started("titan-v", workload_of(R"(
        {"task":"t","engine":"LCE2","id":3,"channels":[{"id":8,"work":"busy"}]})"));
    bench->advance_us(100);
    EXPECT_EQ(bench->read(0x2640 + 8 * 6), 0x80003003U);
    auto turing = Bench::started("rtx2080ti", workload_of(R"(
        {"task":"t","engine":"LCE2","id":3,"channels":[{"id":8,"work":"busy"}]})"));
    turing->advance_us(100);
    turing->write(0x800004 + 8 * 8, 1U << 21);
    turing->advance_us(100);
    EXPECT_EQ(turing->read(0x2640 + 8 * 8), 0x40003003U) << "faulted, not busy";
    EXPECT_EQ(turing->gained(1'000).at("t"), 0);
}

TEST(EngineStatus, AFaultStopsTheWholeTsg) {
    auto bench = Bench::started("rtx2080ti", workload_of(R"(
        {"task":"t","engine":"GR0","id":3,
         "channels":[{"id":8,"work":"busy"},{"id":9,"work":"busy"}]},
        {"task":"u","engine":"LCE2","channels":[{"id":10,"work":"busy"}]})"));
    bench->advance_us(100);
    bench->write(0x800004 + 8 * 8, 1U << 20);
    bench->advance_us(100);
    const auto done = bench->gained(10'000);
    EXPECT_EQ(done.at("t"), 0) << "not even by the channel that is sound";
    EXPECT_NEAR(done.at("u"), 10'000, 0.01);
    EXPECT_EQ(bench->read(0x2640), 0x00003003U) << "its context stays, idle";
    EXPECT_EQ(bench->read(0x3080), 0U);
}

TEST(RunlistInfo, AcquireStillPending) {
    auto bench = Bench::started("a100", workload_of(R"(
        {"task":"waits","engine":"GR0","channels":[{"work":{"acquire_until_us":null}}]})"));
    bench->advance_us(100);
    EXPECT_EQ(bench->read(0xd00108), 0x1300U);
    EXPECT_EQ(bench->read(0xe00000), 0x1102U) << "enabled, pending, acquire failed";
}

TEST(SubmitInfo, NamesTheTaskThatWasCutOff) {
    auto bench = Bench::started("rtx2080ti", "three-tasks");
    bench->advance_us(2500); // TSG 1
    bench->gpu.resubmit(0);
    bench->advance_us(20);
    EXPECT_EQ(bench->read(0x2b0c), 0x00034001U) << "TSG 1, entry 3";
}

TEST(Ptimer, CountsNanoseconds) {
    Bench bench("titan-v", "idle");
    const auto time = [&] {
        const std::uint32_t high = bench.read(0x9410);
        return join(high, bench.read(0x9400));
    };
    EXPECT_EQ(time(), 1984U) << "62 steps of 32 ns: two reads, the second shows 2 us";
    bench.advance_us(5'000'000);
    EXPECT_EQ(time(), 5'000'004'000U) << "the fourth read";
    bench.gpu.start();
    EXPECT_EQ(join(bench.read(0x810084), bench.read(0x810080)) / 1'000'000'000, 1'735'689'600U)
        << "a driver sets it to the date";
    bench.expect_no_violations();
}

TEST(Ptimer, CanBeSet) {
    Bench bench("a100", "idle");
    bench.write(0x9410, 0x5);
    bench.write(0x9400, 0x123);
    EXPECT_EQ(bench.read(0x9410), 0x5U);
    EXPECT_EQ(bench.read(0xbb0080) & 0xfffff000, 0x0U);
    EXPECT_EQ(bench.read(0xbb0084), 0x5U);
    bench.expect_no_violations();
}

} // namespace
} // namespace nvmodel::test
