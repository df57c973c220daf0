// SPDX-License-Identifier: MIT OR GPL-2.0
// Host's treatment of runlists: the rules S1 to S33 of docs/model.md, observed in the work done.
#include "support.hpp"

#include <algorithm>
#include <iterator>

namespace nvmodel::test {
namespace {

constexpr double slice_us = 1998.848;

class EveryBoard : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Boards, EveryBoard, testing::ValuesIn(boards), test_name);

TEST_P(EveryBoard, EqualTimeslicesAreEqualShares) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    const auto done = bench->gained(300 * slice_us);
    double sum = 0;
    for (const auto &[task, us] : done) {
        EXPECT_NEAR(us, 100 * slice_us, 0.011 * 100 * slice_us) << task;
        sum += us;
    }
    EXPECT_LE(sum, 300 * slice_us) << "an engine does no more than its time";
    EXPECT_GE(sum, 0.985 * 300 * slice_us) << "but for context switches it is always at work";
}

TEST_P(EveryBoard, ADisabledTasksTimeGoesToTheOthers) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(10 * slice_us);
    bench->disable(2);
    bench->disable(3);
    bench->advance_us(3 * slice_us);
    const auto without = bench->gained(60 * slice_us);
    EXPECT_EQ(without.at("task2"), 0);
    EXPECT_NEAR(without.at("task1"), 30 * slice_us, 0.025 * 30 * slice_us);
    EXPECT_NEAR(without.at("task3"), 30 * slice_us, 0.025 * 30 * slice_us);
    EXPECT_EQ(bench->state(2), "PENDING") << "its work waits";
    bench->enable(2);
    bench->enable(3);
    bench->advance_us(3 * slice_us);
    const auto again = bench->gained(60 * slice_us);
    EXPECT_NEAR(again.at("task2"), 20 * slice_us, 0.03 * 20 * slice_us);
}

TEST_P(EveryBoard, DisablingDoesNotCutTheSlice) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(500); // within task 1's first slice
    bench->disable(0);
    bench->disable(1);
    const auto rest = bench->gained(1000);
    EXPECT_NEAR(rest.at("task1"), 1000, 1);
    bench->advance_us(1000);
    const auto later = bench->gained(60 * slice_us);
    EXPECT_EQ(later.at("task1"), 0);
}

TEST_P(EveryBoard, OneChannelOfATaskDisabled) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->disable(1);
    bench->advance_us(3 * slice_us);
    const double before = bench->channel(1).progress_us;
    const auto done = bench->gained(60 * slice_us);
    EXPECT_EQ(bench->channel(1).progress_us, before);
    EXPECT_NEAR(done.at("task1"), 20 * slice_us, 0.03 * 20 * slice_us)
        << "its sibling has the slice to itself";
}

TEST_P(EveryBoard, DisablingInATaskThatIsAlone) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"alone","engine":"GR0","timeslice_us":2000,
         "channels":[{"work":"busy"},{"work":"busy"}]})"));
    bench->advance_us(100);
    const unsigned loaded = bench->state(0) == "ON_PBDMA_AND_ENG" ? 0 : 1;
    bench->disable(loaded);
    EXPECT_EQ(bench->state(loaded), "ON_PBDMA_AND_ENG") << "it is not thrown off";
    bench->advance_us(20);
    EXPECT_EQ(bench->state(loaded), "ON_ENG_PENDING") << "its turn came to an end";
    EXPECT_EQ(bench->state(1 - loaded), "ON_PBDMA_AND_ENG");
    bench->advance_us(100);
    EXPECT_EQ(bench->state(1 - loaded), "ON_PBDMA_AND_ENG") << "and did not come again";
    bench->advance_us(slice_us);
    EXPECT_EQ(bench->state(loaded), "PENDING") << "the slice is over";
    const double before = bench->channel(loaded).progress_us;
    EXPECT_NEAR(bench->gained(10'000).at("alone"), 10'000, 0.01);
    EXPECT_EQ(bench->channel(loaded).progress_us, before);
}

TEST_P(EveryBoard, AllDisabledSleepsAndWakes) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    for (unsigned channel = 0; channel < 6; ++channel)
        bench->disable(channel);
    bench->advance_us(3 * slice_us);
    for (const auto &[task, us] : bench->gained(20 * slice_us))
        EXPECT_EQ(us, 0) << task;
    bench->enable(4);
    const bool needs_doorbell = !bench->gpu.board().generation->enable_wakes;
    if (needs_doorbell) {
        EXPECT_EQ(bench->gained(slice_us).at("task3"), 0)
            << "an idle runlist is not scanned without a doorbell";
        bench->ring(4);
    }
    EXPECT_GT(bench->gained(20 * slice_us).at("task3"), 19 * slice_us);
}

TEST_P(EveryBoard, TimeslicesWeighTheShares) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"long","engine":"GR0","timeslice_us":4000,"channels":[{"work":"busy"}]},
        {"task":"short","engine":"GR0","timeslice_us":1000,"channels":[{"work":"busy"}]})"));
    const auto done = bench->gained(10'000'000);
    // 4000 us is (244, 4) = 3997.696 us, 1000 us is (244, 2) = 999.424 us.
    EXPECT_NEAR(done.at("long") / done.at("short"), 4.0, 0.01);
}

TEST_P(EveryBoard, AZeroTimesliceIsOneUnit) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"zero","engine":"GR0","timeslice":{"timeout":0,"scale":0},
         "channels":[{"work":"busy"}]},
        {"task":"other","engine":"GR0","timeslice_us":1000,"channels":[{"work":"busy"}]})"));
    const auto done = bench->gained(100'000);
    EXPECT_NEAR(done.at("zero") / done.at("other"), 1.024 / 999.424, 1e-4);
}

TEST_P(EveryBoard, TsgsWithoutWorkAreSkipped) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"idle","engine":"GR0","timeslice_us":2000,"channels":[{"work":"idle"}]},
        {"task":"busy","engine":"GR0","timeslice_us":2000,"channels":[{"work":"busy"}]})"));
    bench->advance_us(100); // from the first doorbell on
    const auto done = bench->gained(100'000);
    EXPECT_EQ(done.at("idle"), 0);
    EXPECT_NEAR(done.at("busy"), 100'000, 0.01) << "without a single switch";
}

TEST_P(EveryBoard, WorkThatEndsGivesTheSliceUp) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"job","engine":"GR0","timeslice_us":2000,
         "channels":[{"work":{"us":300}}]},
        {"task":"busy","engine":"GR0","timeslice_us":2000,"channels":[{"work":"busy"}]})"));
    const auto done = bench->gained(1'000);
    EXPECT_NEAR(done.at("job"), 300, 0.01);
    EXPECT_NEAR(done.at("busy"), 1'000 - 300 - 2 * 20, 2);
    EXPECT_EQ(bench->state(0), "IDLE");
    EXPECT_NEAR(bench->gained(100'000).at("job"), 0, 0.001);
}

TEST_P(EveryBoard, PeriodicWorkGetsItsAmount) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"periodic","engine":"GR0","timeslice_us":2000,
         "channels":[{"work":{"us":500,"period_us":10000,"offset_us":3000}}]})"));
    EXPECT_EQ(bench->gained(2'900).at("periodic"), 0);
    EXPECT_NEAR(bench->gained(1'000).at("periodic"), 500, 0.01);
    EXPECT_NEAR(bench->gained(100'000).at("periodic"), 10 * 500, 0.1);
}

TEST_P(EveryBoard, PreemptEndsTheSlice) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(500);
    bench->preempt_tsg(0);
    EXPECT_TRUE(bench->preempt_pending());
    unsigned polls = 0;
    while (bench->preempt_pending() && polls < 1000)
        ++polls;
    EXPECT_LE(polls, 25U) << "20 us for saving the context";
    bench->advance_us(100);
    EXPECT_EQ(bench->channel(0).state, "PENDING");
    const auto next = bench->gained(500);
    EXPECT_EQ(next.at("task1"), 0);
    EXPECT_NEAR(next.at("task2"), 500, 1);
    const auto later = bench->gained(60 * slice_us);
    EXPECT_NEAR(later.at("task1"), 20 * slice_us, 0.1 * 20 * slice_us) << "it has its turn again";
    bench->expect_no_violations();
}

TEST_P(EveryBoard, PreemptOfATaskOffItsEngineIsDoneAtOnce) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(500);
    bench->preempt_tsg(2);
    EXPECT_FALSE(bench->preempt_pending());
    EXPECT_NEAR(bench->gained(500).at("task1"), 500, 1);
}

TEST_P(EveryBoard, DisableAndPreemptTakeATaskOffAtOnce) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(500);
    bench->disable(0);
    bench->disable(1);
    bench->preempt_tsg(0);
    bench->advance_us(50);
    EXPECT_EQ(bench->gained(1000).at("task1"), 0);
}

TEST_P(EveryBoard, ClosedGateKeepsTheRunningTask) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(500);
    bench->set_gate(0, true);
    const auto done = bench->gained(20 * slice_us);
    EXPECT_NEAR(done.at("task1"), 20 * slice_us, 1) << "beyond its slice";
    bench->preempt_tsg(0);
    bench->advance_us(100);
    for (const auto &[task, us] : bench->gained(20 * slice_us))
        EXPECT_EQ(us, 0) << task << ": nothing comes after it";
    bench->set_gate(0, false);
    bench->advance_us(100);
    EXPECT_NEAR(bench->gained(1000).at("task2"), 1000, 1) << "the next in the list";
    bench->expect_no_violations();
}

TEST_P(EveryBoard, ANewListCutsTheSlice) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(slice_us + 500); // task 2 runs
    bench->gpu.resubmit(0);
    bench->advance_us(100);
    const auto done = bench->gained(1000);
    EXPECT_NEAR(done.at("task1"), 1000, 1) << "from the first entry on";
}

TEST_P(EveryBoard, AnEmptyListStopsAll) {
    auto bench = Bench::started(GetParam(), "three-tasks");
    bench->advance_us(500);
    bench->submit(0, {}, 0);
    bench->advance_us(100);
    for (const auto &[task, us] : bench->gained(20 * slice_us))
        EXPECT_EQ(us, 0) << task;
    EXPECT_EQ(bench->state(0), "PENDING");
    bench->gpu.resubmit(0);
    bench->advance_us(100);
    EXPECT_GT(bench->gained(6 * slice_us).at("task1"), 1.9 * slice_us);
}

/// Boards where copies have a runlist of their own.
class BoardsWithTwoRunlists : public testing::TestWithParam<const char *> {
  public:
    static std::vector<const char *> all() {
        std::vector<const char *> found;
        std::ranges::copy_if(boards, std::back_inserter(found),
                             [](const char *name) { return board(name).runlists.size() > 1; });
        return found;
    }
};
INSTANTIATE_TEST_SUITE_P(Boards, BoardsWithTwoRunlists,
                         testing::ValuesIn(BoardsWithTwoRunlists::all()), test_name);

TEST_P(BoardsWithTwoRunlists, AreIndependent) { // R5
    const std::string entries = R"(
        {"task":"compute1","engine":"GR0","timeslice_us":2000,"channels":[{"work":"busy"}]},
        {"task":"compute2","engine":"GR0","timeslice_us":2000,"channels":[{"work":"busy"}]},
        {"task":"copies","engine":"LCE2","timeslice_us":1000,"channels":[{"work":"busy"}]})";
    auto bench = Bench::started(GetParam(), workload_of(entries));
    bench->advance_us(100);
    const auto done = bench->gained(100'000);
    EXPECT_NEAR(done.at("copies"), 100'000, 0.01);
    EXPECT_NEAR(done.at("compute1"), 50'000, 1'500);
    bench->set_gate(0, true);
    bench->preempt_tsg(0);
    bench->preempt_tsg(1);
    bench->advance_us(100);
    EXPECT_NEAR(bench->gained(10'000).at("copies"), 10'000, 0.01) << "gating one leaves the other";
}

TEST_P(EveryBoard, AFaultedChannelKeepsItsTsgOff) {
    auto bench = Bench::started(GetParam(), "mixed");
    if (!bench->gpu.board().generation->fault_bits)
        GTEST_SKIP() << "Pascal has no fault bits";
    EXPECT_EQ(bench->gained(50'000).at("crashed"), 0) << "channel 51 is sound, but of that TSG";
    const std::uint32_t at = bench->channel_register(50);
    bench->write(at, bench->gpu.board().ids_per_runlist() ? 0x21 : 1U << 23);
    bench->ring(50);
    EXPECT_GT(bench->gained(50'000).at("crashed"), 0);
}

TEST_P(EveryBoard, AcquiresWaitAndSwitch) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"waits","engine":"GR0","timeslice_us":2000,
         "channels":[{"work":{"acquire_until_us":50000}}]},
        {"task":"busy","engine":"GR0","timeslice_us":2000,"channels":[{"work":"busy"}]})"));
    bench->advance_us(100);
    const auto before = bench->gained(40'000);
    EXPECT_EQ(before.at("waits"), 0);
    EXPECT_NEAR(before.at("busy"), 40'000, 0.01) << "it does not take turns for nothing";
    EXPECT_EQ(bench->state(0), "PENDING_ACQUIRE");
    bench->advance_us(12'000);
    EXPECT_NEAR(bench->gained(100'000).at("waits"), 50'000, 2'500);
}

TEST_P(EveryBoard, AnAcquireThatMayNotSwitchHoldsItsSlice) {
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"waits","engine":"GR0","timeslice_us":2000,
         "channels":[{"work":{"acquire_until_us":null,"switch_tsg":false}}]},
        {"task":"busy","engine":"GR0","timeslice_us":2000,"channels":[{"work":"busy"}]})"));
    bench->advance_us(500);
    EXPECT_EQ(bench->state(0), "ON_PBDMA");
    const auto done = bench->gained(100'000);
    EXPECT_EQ(done.at("waits"), 0);
    EXPECT_NEAR(done.at("busy"), 50'000, 2'500);
}

TEST_P(EveryBoard, CopiesOnTheGraphicsRunlistTakeTurnsWithCompute) { // RTAS'24 Fig. 9
    if (GetParam() == std::string("a100"))
        GTEST_SKIP() << "its GRCEs have no physical copy engine";
    auto bench = Bench::started(GetParam(), workload_of(R"(
        {"task":"compute","engine":"GR0","timeslice_us":1000,"channels":[{"work":"busy"}]},
        {"task":"copies","engine":"GRCE0","timeslice_us":1049,"channels":[{"work":"busy"}]})"));
    bench->advance_us(100);
    const auto done = bench->gained(200'000);
    EXPECT_NEAR(done.at("compute"), 200'000, 200) << "nobody else needs the compute engine";
    EXPECT_NEAR(done.at("copies"), 200'000 * 1048.576 / (1048.576 + 999.424), 4'500)
        << "compute's TSG takes the copy engine away";
}

TEST_P(EveryBoard, TimeIsDeterministic) {
    const auto run = [] {
        auto bench = Bench::started(GetParam(), "mixed");
        bench->advance_us(12'345.678);
        bench->disable(30);
        bench->preempt_tsg(10);
        bench->gpu.resubmit(0);
        bench->advance_us(54'321);
        std::string text = std::to_string(bench->gpu.now());
        for (const ChannelProgress &each : bench->gpu.progress())
            text += " " + std::to_string(each.progress_us) + std::string(each.state);
        return text;
    };
    EXPECT_EQ(run(), run());
}

TEST_P(EveryBoard, SmallStepsEqualOneLeap) {
    auto steps = Bench::started(GetParam(), "mixed");
    auto leap = Bench::started(GetParam(), "mixed");
    for (int i = 0; i < 20'000; ++i)
        steps->advance_us(1.5);
    leap->advance_us(30'000);
    const auto stepped = steps->gpu.progress();
    const auto leapt = leap->gpu.progress();
    ASSERT_EQ(stepped.size(), leapt.size());
    for (std::size_t i = 0; i < stepped.size(); ++i) {
        EXPECT_NEAR(stepped[i].progress_us, leapt[i].progress_us, 0.001) << stepped[i].task;
        EXPECT_EQ(stepped[i].state, leapt[i].state) << stepped[i].task;
    }
}

TEST_P(EveryBoard, EachAccessTakesAMicrosecond) {
    Bench bench(GetParam(), "idle");
    const Ns before = bench.gpu.now();
    bench.read(0x0);
    bench.write(0x1700, 0);
    bench.gpu.bar_read(Bar::framebuffer, 0, 4);
    EXPECT_EQ(bench.gpu.now() - before, 3'000);
}

TEST(Runqueues, FeedOneContextTogether) {
    auto bench = Bench::started("titan-v", workload_of(R"(
        {"task":"both","engine":"GR0","timeslice_us":2000,
         "channels":[{"work":"busy"},{"work":"busy","runqueue":1}]})"));
    bench->advance_us(100);
    EXPECT_EQ(bench->state(0), "ON_PBDMA_AND_ENG");
    EXPECT_EQ(bench->state(1), "ON_PBDMA_AND_ENG");
    EXPECT_EQ(bench->read(0x40000 + 0x120), 0U);
    EXPECT_EQ(bench->read(0x42000 + 0x120), 1U);
    EXPECT_NEAR(bench->gained(10'000).at("both"), 10'000, 0.01) << "sharing one engine";
}

TEST(Pbdma, SharedByRunlistsOnPascal) {
    auto bench = Bench::started("gtx1060-3gb", workload_of(R"(
        {"task":"decode","engine":"NVDEC0","channels":[{"id":1,"work":"busy"}]},
        {"task":"encode","engine":"NVENC0","channels":[{"id":2,"work":"busy"}]})"));
    bench->advance_us(500);
    const auto done = bench->gained(100'000);
    EXPECT_NEAR(done.at("decode"), 100'000, 1);
    EXPECT_NEAR(done.at("encode"), 100'000, 1);
    std::map<std::uint32_t, unsigned> loaded;
    for (int i = 0; i < 200; ++i) {
        const std::uint32_t word = bench->read(0x3084);
        EXPECT_EQ(word >> 13 & 7, 1U) << "valid all the time";
        ++loaded[word & 0xfff];
    }
    EXPECT_EQ(loaded.size(), 2U) << "taking turns on PBDMA 1";
}

TEST(Next, MarksTheChannelThatResumesFirst) {
    auto bench = Bench::started("titan-v", "three-tasks");
    bench->advance_us(slice_us + 100);
    unsigned marked = 0;
    for (const unsigned channel : {0U, 1U})
        if ((bench->read(0x800004 + 8 * channel) & 0x2) != 0) {
            ++marked;
            bench->advance_us(2 * slice_us - 14);
            EXPECT_EQ(bench->state(channel), "ON_PBDMA_AND_ENG");
            EXPECT_EQ(bench->read(0x800004 + 8 * channel) & 0x2, 0U);
        }
    EXPECT_EQ(marked, 1U);
}

TEST(Copies, SharedPhysicalEnginesShareTheirSpeed) { // R8
    const std::string entries = R"(
        {"task":"async","engine":"LCE3","channels":[{"work":"busy"}]},
        {"task":"other","engine":"LCE2","channels":[{"work":"busy"}]},
        {"task":"graphics","engine":"GRCE0","channels":[{"work":"busy"}]})";
    // On the RTX 6000 Ada GRCE0 borrows LCE3's PCE, on the Titan V every LCE has its own.
    auto ada = Bench::started("rtx6000-ada", workload_of(entries));
    ada->advance_us(100);
    auto done = ada->gained(10'000);
    EXPECT_NEAR(done.at("async"), 5'000, 1);
    EXPECT_NEAR(done.at("graphics"), 5'000, 1);
    EXPECT_NEAR(done.at("other"), 10'000, 1);
    auto volta = Bench::started("titan-v", workload_of(entries));
    volta->advance_us(100);
    done = volta->gained(10'000);
    EXPECT_NEAR(done.at("async"), 10'000, 1);
    EXPECT_NEAR(done.at("graphics"), 10'000, 1);
}

TEST(Copies, RewiringCounts) {
    auto bench = Bench::started("rtx6000-ada", workload_of(R"(
        {"task":"async","engine":"LCE3","channels":[{"work":"busy"}]},
        {"task":"graphics","engine":"GRCE0","channels":[{"work":"busy"}]})"));
    bench->advance_us(100);
    bench->write(0x104100 + 4 * 1, 3); // PCE 1 also works for LCE3
    EXPECT_NEAR(bench->gained(10'000).at("async"), 5'000, 1) << "two PCEs, two users";
    bench->write(0x1041c0, 0xf); // GRCE0 borrows nothing any more
    const auto done = bench->gained(10'000);
    EXPECT_NEAR(done.at("async"), 10'000, 1);
    EXPECT_NEAR(done.at("graphics"), 0, 1);
}

TEST(Doorbells, TuringsGate) {
    auto bench = Bench::started("rtx2080ti", workload_of(R"(
        {"task":"t","engine":"GR0","channels":[{"id":7,"work":"busy","enabled":false}]})"));
    bench->enable(7);
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xb65000, 0xfff); // gate closed
    bench->write(0x810090, 7);
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xb65000, 0x80000fff);
    bench->write(0x810090, 7 | 1U << 12); // a bit without a meaning
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0x810090, 7 | 3U << 16); // another runlist
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xbb0090, 7 | 15U << 16); // any runlist, by the function page
    EXPECT_GT(bench->gained(1'000).at("t"), 900);
    bench->expect_no_violations();
}

TEST(Doorbells, Amperes) {
    const auto fresh = [] {
        auto bench = Bench::started("a100", workload_of(R"(
            {"task":"t","engine":"LCE2","channels":[{"id":7,"work":"busy","enabled":false}]})"));
        bench->enable(7, 1);
        EXPECT_EQ(bench->gained(1'000).at("t"), 0);
        return bench;
    };
    auto bench = fresh();
    bench->write(0xbb0090, 7); // runlist 0
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xbb0090, 7 | 1U << 16 | 1U << 31); // not for Host
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xd01300, 0x7ff); // gate closed
    bench->write(0xbb0090, 7 | 1U << 16);
    EXPECT_EQ(bench->gained(1'000).at("t"), 0);
    bench->write(0xd01300, 0x800007ff);
    bench->write(0xbb0090, 7 | 1U << 16);
    EXPECT_GT(bench->gained(1'000).at("t"), 900);
    auto internal = fresh();
    internal->write(0xd01090, 7);
    EXPECT_GT(internal->gained(1'000).at("t"), 900);
    auto ctrl = fresh();
    ctrl->write(0xb64000, 7 | 1U << 16);
    EXPECT_GT(ctrl->gained(1'000).at("t"), 900);
    ctrl->expect_no_violations();
}

TEST(RunlistPreempt, TakesEverythingOff) {
    auto turing = Bench::started("rtx2080ti", "three-tasks");
    turing->advance_us(500);
    turing->write(0x2638, 1);
    EXPECT_EQ(turing->read(0x2638), 1U);
    turing->advance_us(50);
    EXPECT_EQ(turing->read(0x2638), 0U);
    turing->advance_us(50);
    EXPECT_EQ(turing->state(0), "PENDING");
    EXPECT_NEAR(turing->gained(500).at("task2"), 500, 1);
    auto ampere = Bench::started("a100", "three-tasks");
    ampere->advance_us(500);
    ampere->write(0xd00098, 0);
    EXPECT_EQ(ampere->read(0xd00098), 1U << 21);
    ampere->advance_us(50);
    EXPECT_EQ(ampere->read(0xd00098), 0U);
    EXPECT_EQ(ampere->read(0xd00100) & 0x300, 0x200U) << "RUNLIST_PREEMPT_COMPLETE";
}

TEST(ChannelPreempt, PascalOnly) {
    auto pascal = Bench::started("gtx1060-3gb", "three-tasks");
    pascal->advance_us(500);
    pascal->write(0x2634, 0); // channel 0
    EXPECT_EQ(pascal->read(0x2634), 1U << 20);
    pascal->advance_us(100);
    EXPECT_NEAR(pascal->gained(500).at("task2"), 500, 1);
    auto volta = Bench::started("titan-v", "three-tasks");
    volta->advance_us(500);
    volta->write(0x2634, 0);
    EXPECT_NEAR(volta->gained(500).at("task1"), 500, 1) << "does nothing from Volta on";
}

/// A guest builds these lists itself, so no plan has them. The model must take them all.
class OwnList : public testing::Test {
  protected:
    void submit(const std::vector<std::uint32_t> &words) {
        for (std::size_t i = 0; i < words.size(); ++i)
            bench->poke({Aperture::video, 0x100000 + 4 * i}, words[i]);
        bench->write(0x2270, 0x100);
        bench->write(0x2274, static_cast<std::uint32_t>(words.size() / 2));
        bench->advance_us(100);
    }
    std::unique_ptr<Bench> bench = Bench::started("gtx1060-3gb", workload_of(R"(
        {"task":"a","engine":"GR0","id":0,"channels":[{"id":0,"work":"busy"},
                                                       {"id":1,"work":{"us":500}}]},
        {"task":"b","engine":"GR0","id":1,"channels":[{"id":2,"work":"busy"}]},
        {"task":"copies","engine":"LCE2","id":2,"channels":[{"id":3,"work":"busy"}]})"));
    static constexpr std::uint32_t header = 0x03d0a000; // a TSG of 999.424 us
};

TEST_F(OwnList, RunsOneTaskOnly) {
    submit({(1U << 26) | header | 1, 0, 2, 0});
    const auto done = bench->gained(10'000);
    EXPECT_EQ(done.at("a"), 0);
    EXPECT_NEAR(done.at("b"), 10'000, 0.01);
    EXPECT_NEAR(done.at("copies"), 10'000, 0.01) << "another runlist";
}

TEST_F(OwnList, TheSameChannelTwiceInATsg) {
    submit({(4U << 26) | header, 0, 1, 0, 1, 0, 0, 0, 1, 0});
    const auto done = bench->gained(10'000);
    EXPECT_NEAR(done.at("a"), 10'000, 0.01);
    EXPECT_NEAR(bench->channel(1).progress_us, 500, 0.01);
    EXPECT_EQ(bench->state(1), "IDLE");
}

TEST_F(OwnList, TheSameChannelInTwoTsgs) {
    submit({(1U << 26) | header | 5, 0, 2, 0, (1U << 26) | header | 6, 0, 2, 0});
    EXPECT_GT(bench->gained(10'000).at("b"), 9'500);
}

TEST_F(OwnList, AChannelOfAnotherRunlist) {
    submit({(2U << 26) | header | 5, 0, 2, 0, 3, 0});
    const auto done = bench->gained(10'000);
    EXPECT_NEAR(done.at("b"), 10'000, 0.01);
    EXPECT_NEAR(done.at("copies"), 10'000, 0.01) << "goes on where it belongs";
}

TEST_F(OwnList, ChannelsThatNobodySetUp) {
    submit({(2U << 26) | header | 5, 0, 4000, 0, 77, 0, 78, 0});
    for (const auto &[task, us] : bench->gained(1'000))
        EXPECT_EQ(us, task == "copies" ? 1'000 : 0) << task;
}

TEST_F(OwnList, OversizedListsAreHarmless) {
    bench->write(0x2270, 0x0fffffff);
    bench->write(0x2274, 0xffff);
    bench->advance_us(100);
    EXPECT_EQ(bench->gained(1'000).at("b"), 0);
    bench->write(0x2270, 0x0);
    bench->write(0x2274, 0xffff); // zeros: the bare channel 0, 65535 times
    bench->advance_us(100);
    EXPECT_GT(bench->gained(1'000).at("a"), 0);
}

TEST(Mps, ClientsShareOneSlice) { // ECRTS'25 section 4.3: 1/2 instead of 2/3
    auto bench = Bench::started("rtx6000-ada", "fig7");
    const auto done = bench->gained(400'000);
    EXPECT_NEAR(done.at("task1"), 200'000, 4'000);
    EXPECT_NEAR(done.at("mps-server"), 200'000, 4'000);
}

} // namespace
} // namespace nvmodel::test
