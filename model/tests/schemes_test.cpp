// SPDX-License-Identifier: MIT OR GPL-2.0
// Steering by a tool, on every scheme: lists of its own in guest memory, changed timeslices,
// preempts and gates.
#include "support.hpp"

#include "host/group.hpp"

#include <span>

namespace nvmodel::test {
namespace {

class Steering : public testing::TestWithParam<const char *> {
  protected:
    /// Submits a list anywhere in guest memory, as a driver in the guest allocates it.
    void submit_own(const std::vector<std::pair<unsigned, Timeslice>> &tsgs,
                    std::uint64_t address = 0x10345000) {
        const EntryFormat format = bench->gpu.board().generation->entry;
        const Host &host = bench->gpu.chip().host();
        std::vector<std::uint32_t> words;
        const auto append = [&words](const std::vector<std::uint32_t> &entry) {
            words.insert(words.end(), entry.begin(), entry.end());
        };
        for (const auto &[tsg, timeslice] : tsgs) {
            append(encode_header(format, tsg, timeslice, 1));
            const Channel &channel = host.channel(*host.channel_index(0, tsg));
            append(encode_channel(
                format,
                {.id = tsg, .runqueue = 0, .instance = channel.instance, .userd = channel.userd}));
        }
        ASSERT_TRUE(bench->guest.write(address, std::as_bytes(std::span(words))));
        bench->submit(0, {Aperture::coherent, address}, static_cast<unsigned>(2 * tsgs.size()));
        bench->advance_us(100);
    }

    /// TSG n has channel n.
    std::unique_ptr<Bench> bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"a","engine":"GR0","id":0,"timeslice_us":2000,"channels":[{"id":0,"work":"busy"}]},
        {"task":"b","engine":"GR0","id":1,"timeslice_us":2000,"channels":[{"id":1,"work":"busy"}]},
        {"task":"c","engine":"GR0","id":2,"timeslice_us":2000,
         "channels":[{"id":2,"work":"busy"}]})"));
};

INSTANTIATE_TEST_SUITE_P(Boards, Steering, testing::ValuesIn(boards), test_name);

constexpr Timeslice two_ms{244, 3};
constexpr Timeslice four_ms{244, 4};
constexpr Timeslice sixteen_ms{244, 6};

TEST_P(Steering, ChangedTimeslicesShiftTheShares) {
    submit_own({{0, four_ms}, {1, two_ms}});
    auto done = bench->gained(3'000'000);
    EXPECT_NEAR(done.at("a") / done.at("b"), 2, 0.02 * 2);
    EXPECT_EQ(done.at("c"), 0) << "not on the list";
    submit_own({{0, sixteen_ms}, {1, two_ms}}, 0x10345000 + 0x8000);
    done = bench->gained(3'000'000);
    EXPECT_NEAR(done.at("a") / done.at("b"), 8, 0.02 * 8);
    bench->expect_no_violations();
}

TEST_P(Steering, AListWithOneTsgStarvesTheOthersUntilTheOldOneIsBack) {
    bench->advance_us(500);
    submit_own({{1, two_ms}});
    const auto alone = bench->gained(50'000);
    EXPECT_EQ(alone.at("a"), 0);
    EXPECT_NEAR(alone.at("b"), 50'000, 0.01) << "without a single switch";
    EXPECT_EQ(alone.at("c"), 0);
    EXPECT_EQ(bench->state(0), "PENDING");
    bench->gpu.resubmit(0);
    bench->advance_us(100);
    const auto all = bench->gained(600'000);
    for (const char *task : {"a", "b", "c"})
        EXPECT_NEAR(all.at(task), 200'000, 0.02 * 200'000) << task;
}

TEST_P(Steering, APreemptBehindTheGateLeavesNothingRunning) {
    bench->advance_us(500);
    bench->set_gate(0, true);
    bench->preempt_tsg(0);
    bench->advance_us(100);
    EXPECT_FALSE(bench->preempt_pending());
    for (const auto &[task, us] : bench->gained(50'000))
        EXPECT_EQ(us, 0) << task;
    submit_own({{2, two_ms}});
    for (const auto &[task, us] : bench->gained(50'000))
        EXPECT_EQ(us, 0) << task << ": a new list does not open the gate";
    bench->set_gate(0, false);
    bench->advance_us(100);
    EXPECT_NEAR(bench->gained(50'000).at("c"), 50'000, 0.01);
}

TEST_P(Steering, APreemptEndsTheSliceAndTheNextTsgFollows) {
    bench->advance_us(500);
    bench->preempt_tsg(0);
    bench->advance_us(100);
    EXPECT_NEAR(bench->gained(500).at("b"), 500, 0.01);
}

TEST(TsgPreemptPending, FallsWithTheFirstOfSeveralBeforeGb10x) {
    for (const auto &[name, counted] : std::map<std::string, bool>{
             {"rtx6000-ada", false}, {"h200", false}, {"b200", true}, {"rtx5090", true}}) {
        auto bench = Bench::started(name, workload_of(R"(
            {"task":"compute","engine":"GR0","id":0,"channels":[{"id":0,"work":"busy"}]},
            {"task":"copies","engine":"LCE0","id":1,"channels":[{"id":1,"work":"busy"}]})"));
        bench->advance_us(
            1'300); // copies have their turn, compute's context is still on its engine
        bench->preempt_tsg(0);
        EXPECT_TRUE(bench->preempt_pending()) << name;
        bench->preempt_tsg(1); // waits for the first
        bench->advance_us(19);
        EXPECT_EQ(bench->preempt_pending(), counted) << name << ": TSG 1 is being taken off";
        bench->advance_us(20);
        EXPECT_FALSE(bench->preempt_pending()) << name;
    }
}

TEST(Gb202, RegistersAtTheirOwnPlaces) {
    auto bench = Bench::started("rtx5090", "three-tasks");
    bench->advance_us(100);
    EXPECT_EQ(bench->read(0xc00148), 0x00e0000bU); // channel RAM, 2^11 channels
    EXPECT_EQ(bench->read(0xc0054c), 1U << 16);    // runlist 1
    EXPECT_EQ(bench->read(0xc00154), 0x80040000U); // PBDMA 0
    EXPECT_EQ(bench->read(0xc00158), 0x80040801U); // PBDMA 1
    EXPECT_EQ(bench->read(0xc00090), 0x80002000U); // TSG 0 on GR0
    EXPECT_EQ(bench->read(0xc000d0), 0U);          // LCE0
    EXPECT_EQ(bench->read(0xc000f0) >> 24, 15U);   // LCE0's engine id
    EXPECT_EQ(bench->read(0xc00008), 9U);
    EXPECT_EQ(bench->read(0xc00000) & 0xfff, 0x100U) << "aligned to 256 bytes";
    EXPECT_EQ(bench->read(0xc0000c), 0U);
    EXPECT_EQ(bench->read(0xc00010), 0U);
    EXPECT_EQ(bench->read(0xc00230), 0x803fffffU);
    EXPECT_EQ(bench->read(0xc00238), 0x803fffffU);
    EXPECT_EQ(bench->read(0xc00280), 0x80000800U) << "2048 ids, doorbells open";
    bench->write(0xc00014, 0);
    EXPECT_EQ(bench->read(0xc00014), 1U << 21) << "runlist preempt";
    bench->advance_us(50);
    EXPECT_EQ(bench->read(0xc00014), 0U);
    bench->expect_no_violations();
    for (const std::uint32_t at : {0x080U, 0x098U, 0x108U, 0x110U, 0x0a0U, 0x200U})
        EXPECT_EQ(bench->read(0xc00000 + at), 0xbadf5040U)
            << std::hex << at << ": not known on GB20x";
}

TEST(Gb202, BaseHas52Bits) {
    Bench bench("rtx5090", "idle");
    bench.write(0xc00000, 0xffffffff);
    EXPECT_EQ(bench.read(0xc00000), 0xffffff03U);
    bench.write(0xc00004, 0xffffffff);
    EXPECT_EQ(bench.read(0xc00004), 0x000fffffU);
    Bench hopper("h200", "idle");
    hopper.write(0xc00080, 0xffffffff);
    EXPECT_EQ(hopper.read(0xc00080), 0xfffffc03U);
    hopper.write(0xc00084, 0xffffffff);
    EXPECT_EQ(hopper.read(0xc00084), 0x000fffffU);
    Bench ada("rtx6000-ada", "idle");
    ada.write(0xd00084, 0xffffffff);
    EXPECT_EQ(ada.read(0xd00084), 0xffU);
    Bench gb100("b200", "idle");
    gb100.write(0xc00084, 0xffffffff);
    EXPECT_EQ(gb100.read(0xc00084), 0x000fffffU);
    for (Bench *each : {&bench, &hopper, &gb100})
        each->expect_no_violations();
}

TEST(Gb202, DoorbellNeedsItsEnableBit) {
    auto bench = Bench::started("rtx5090", workload_of(R"(
        {"task":"t","engine":"LCE4","channels":[{"id":7,"work":"busy","enabled":false}]})"));
    bench->enable(7, 4);
    bench->write(0xbb0090, 7 | 4U << 16);
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xc01280, 0x80000007); // ids 0 to 6 only
    bench->write(0xbb0090, 7 | 4U << 16 | 1U << 30);
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xc01280, 0x80000800);
    bench->write(0xbb0090, 7 | 4U << 16 | 1U << 30);
    EXPECT_GT(bench->gained(1'000).at("t"), 900);
    bench->expect_no_violations();
    EXPECT_EQ(bench->read(0xb64000), 0xbadf1100U);
}

TEST(Pbdmas, BlackwellsRegistersMoved) {
    auto b200 = Bench::started("b200", "three-tasks");
    b200->advance_us(100);
    EXPECT_EQ(b200->read(0x4015c), 0x2000U);
    EXPECT_EQ(b200->read(0x40120) & ~1U, 0x2000U);
    for (const std::uint32_t at : {0x0c0U, 0x038U, 0x098U, 0x090U, 0x094U, 0x058U})
        b200->read(0x40000 + at);
    b200->expect_no_violations();
    EXPECT_EQ(b200->read(0x40010), 0xbadf5040U);
    EXPECT_EQ(b200->read(0x40160), 0xbadf5040U);
    Bench rtx5090("rtx5090", "idle");
    EXPECT_EQ(rtx5090.read(0x40058), 0xbadf5040U) << "no SET_CHANNEL_INFO";
}

TEST(Window, HoppersHasNoTarget) {
    for (const auto &[name, mask] : std::map<std::string, std::uint32_t>{
             {"h200", 0x3fffff}, {"b200", 0x7fffff}, {"rtx5090", 0x7fffff}}) {
        Bench bench(name, "idle");
        bench.write(0x10fd40, 0xffffffff);
        EXPECT_EQ(bench.read(0x10fd40), mask) << name;
        bench.write(0x10fd40, 0x10);
        bench.write(0x700004, 0x12345678);
        EXPECT_EQ(bench.gpu.bar_read(Bar::framebuffer, 0x100004, 4), 0x12345678U);
        bench.expect_no_violations();
        EXPECT_EQ(bench.read(0x1700), 0xbadf5040U);
    }
}

TEST(BarBlocks, ArePairsFromHopperOn) {
    Bench bench("h200", "idle");
    bench.write(0xb80f60, 0xffffffff);
    EXPECT_EQ(bench.read(0xb80f60), 0xfffffe00U) << "never pending";
    EXPECT_FALSE(bench.gpu.chip().bus().bar1.translated) << "the upper half binds";
    bench.write(0xb80f64, 0x12);
    EXPECT_TRUE(bench.gpu.chip().bus().bar1.translated);
    EXPECT_EQ(bench.gpu.chip().bus().bar1.instance, 0x12'ffff'f000U);
    bench.write(0xb80f70, 0x34800200);
    bench.write(0xb80f74, 0xffffffff);
    EXPECT_EQ(bench.read(0xb80f74), 0xfffffU);
    EXPECT_EQ(bench.gpu.chip().bus().bar2.instance, 0xf'ffff'3480'0000U);
    bench.expect_no_violations();
    EXPECT_EQ(bench.read(0xb80f40), 0U) << "GA100's is not there any more";
    ASSERT_EQ(bench.gpu.violations().records().size(), 1U);
}

TEST(Flushes, AreTriggeredByReading) {
    Bench bench("h200", "idle");
    EXPECT_EQ(bench.read(0x10f804), 0U);
    bench.expect_no_violations();
    EXPECT_EQ(bench.read(0x10f800), 1U);
    EXPECT_EQ(bench.read(0x10f800), 2U);
    EXPECT_EQ(bench.read(0x10f804), 2U) << "done, not busy";
    EXPECT_EQ(bench.read(0xb80f18), 1U);
    ASSERT_EQ(bench.gpu.violations().records().size(), 2U);
    EXPECT_EQ(name_of(bench.gpu.violations().records()[0].why), "side-effect");
    EXPECT_EQ(bench.gpu.violations().records()[0].count, 2U);
    Bench gb100("b200", "idle");
    EXPECT_EQ(gb100.read(0x10f800), 0xbadf5040U) << "not in its header";
    EXPECT_EQ(gb100.read(0x10f810), 1U);
}

TEST(H200, RunlistsAsCaptured) {
    Bench bench("h200", "idle");
    const std::map<std::uint32_t, unsigned> ids{{0xc00000, 0},  {0xc00400, 1}, {0xc00800, 3},
                                                {0xc00c00, 10}, {0xc04400, 6}, {0xc05c00, 32},
                                                {0xc07c00, 33}, {0xc08000, 8}, {0xc08400, 25}};
    for (const auto &[base, id] : ids)
        EXPECT_EQ(bench.read(base + 8) >> 16, id) << std::hex << base;
    EXPECT_EQ(bench.read(0xc00228) >> 24, 0U);        // GR0's engine id
    EXPECT_EQ(bench.read(0xc00228 + 0x80) >> 24, 2U); // LCE1's, slot 2
    EXPECT_EQ(bench.read(0xc00a28) >> 24, 5U);        // LCE3's
    EXPECT_EQ(bench.read(0x820c1c), 0U);
    EXPECT_EQ(bench.read(0x820c38 + 4 * 1), 0x40U) << "enabled 0x1bf of nine";
    EXPECT_EQ(bench.read(0x820c38 + 4 * 4), 0x04U);
    EXPECT_EQ(bench.read(0x1183a4), 143771U);
    bench.expect_no_violations();
}

TEST(H200, GraphicsCopiesShareWithAsyncOnes) {
    auto bench = Bench::started("h200", workload_of(R"(
        {"task":"graphics","engine":"GRCE0","channels":[{"work":"busy"}]},
        {"task":"async","engine":"LCE2","channels":[{"work":"busy"}]},
        {"task":"other","engine":"LCE4","channels":[{"work":"busy"}]})"));
    bench->advance_us(100);
    const auto done = bench->gained(10'000);
    EXPECT_NEAR(done.at("graphics"), 5'000, 1);
    EXPECT_NEAR(done.at("async"), 5'000, 1);
    EXPECT_NEAR(done.at("other"), 10'000, 1);
}

TEST(B200, ShowsTheFirstDiesCopyWiring) {
    auto bench = Bench::started("b200", workload_of(R"(
        {"task":"first","engine":"LCE2","channels":[{"work":"busy"}]},
        {"task":"second","engine":"LCE19","channels":[{"work":"busy"}]})"));
    EXPECT_EQ(bench->read(0x104028), 0xffffffU);
    EXPECT_EQ(bench->read(0x104100), 2U);
    EXPECT_EQ(bench->read(0x104100 + 4 * 23), 9U);
    EXPECT_EQ(bench->read(0x1041c0), 0x40000002U);
    bench->advance_us(100);
    const auto done = bench->gained(1'000);
    EXPECT_NEAR(done.at("first"), 1'000, 1);
    EXPECT_NEAR(done.at("second"), 1'000, 1) << "its PCEs are on the other die";
    bench->expect_no_violations();
    EXPECT_EQ(bench->read(0x104100 + 4 * 24), 0xbadf5040U);
}

TEST(Rtx5090, CopyWiringIsThePublishedOne) {
    Bench bench("rtx5090", "idle");
    EXPECT_EQ(bench.read(0x104028), 0xfU);
    EXPECT_EQ(bench.read(0x104100), 4U);
    EXPECT_EQ(bench.read(0x10410c), 5U);
    EXPECT_EQ(bench.read(0x1041c0), 0x40000005U);
    EXPECT_EQ(bench.read(0x1041cc), 0x40000004U) << "of the fourth, made up";
    bench.expect_no_violations();
}

TEST(B200, HasATableForEachDie) {
    Bench bench("b200", "idle");
    EXPECT_EQ(bench.read(0x224fc), 0x16130992U);
    EXPECT_EQ(bench.read(0x324fc), 0x16130992U);
    EXPECT_EQ(bench.read(0x22800), 0x80000180U); // GR0
    EXPECT_EQ(bench.read(0x32800), 0x930a004bU); // LCE10, fault id 75
    EXPECT_EQ(bench.read(0x32808), 0x00c04c00U); // runlist 19
    EXPECT_EQ(bench.read(0x32800 + 4 * 54), 0U) << "18 devices";
    EXPECT_EQ(bench.read(0x1183a4), 183359U);
    bench.expect_no_violations();
    Bench hopper("h200", "idle");
    EXPECT_EQ(hopper.read(0x324fc), 0xbadf1100U);
}

TEST(PciConfig, HoppersBarsAreResources024) {
    for (const char *name : {"h200", "b200"}) {
        Bench bench(name, "idle");
        const std::array<std::uint32_t, 6> sizes{16 << 20, 0, 16 << 20, 0, 32 << 20, 0};
        for (unsigned i = 0; i < 6; ++i) {
            bench.gpu.config_write(0x10 + 4 * i, 0xffffffff, 4);
            EXPECT_EQ(bench.gpu.config_read(0x10 + 4 * i, 4), sizes[i] == 0 ? 0 : ~(sizes[i] - 1));
        }
        bench.gpu.config_write(0x20, 0xf0000000, 4);
        bench.gpu.config_write(0x04, 0x2, 2);
        bench.gpu.memory_write(0xf0001000, 0x12345678, 4);
        EXPECT_EQ(bench.gpu.bar_read(Bar::instance, 0x1000, 4), 0x12345678U);
    }
}

} // namespace
} // namespace nvmodel::test
