// SPDX-License-Identifier: MIT OR GPL-2.0
// Tests the recorder of one GPU, over the stand-in for NVIDIA's driver.
#include "tools/nvdebugctl/recording/recorder.hpp"

#include "bench.hpp"

#include <algorithm>
#include <map>

namespace nvdebugctl {
namespace {

namespace rm = nvdebug::driver::rm;
using nvdebug::Turn;

constexpr std::uint64_t ms = 1'000'000, period = 50 * ms;

/// Keeps all turns, by engine.
struct Told final : Sink {
    void turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) override {
        turns[lane.engine].push_back(turn);
        names.push_back(process ? process->command.value_or("") : "");
    }
    void end(const Lane &lane, const LaneEnd &end) override { ends[lane.engine].push_back(end); }
    using Sink::end;

    std::map<std::string, std::vector<Turn>> turns;
    std::map<std::string, std::vector<LaneEnd>> ends;
    std::vector<std::string> names;
};

class RecorderTest : public ::testing::Test {
  protected:
    RecorderTest() {
        kernel.clock = [this] { return now; };
        std::vector<std::string> notes;
        auto made = Recorder::start(gpu, period, told, notes);
        EXPECT_TRUE(made && notes.empty());
        recorder = std::move(*made);
    }

    static rm::SwitchRecord one(std::uint64_t ns, bool starts, std::uint32_t pid) {
        rm::SwitchRecord record{};
        record.tag = starts ? rm::SwitchRecord::starts : rm::SwitchRecord::ends;
        record.ns = ns;
        record.pid = pid;
        record.context = pid;
        return record;
    }

    driver_test::Bench bench{"h200", "fig7"};
    driver_test::StandIn &kernel = *bench.kernel;
    std::uint64_t now = 0;
    const nvdebug::Gpu gpu{bench.tree(), 0};
    Told told;
    std::unique_ptr<Recorder> recorder;
};

TEST_F(RecorderTest, BeginsWhereItSaysThatItBegins) {
    now = 10 * ms;
    recorder->begin();
    // The driver has recorded switches since the recorder was made, before begin().
    kernel.switches = {one(3 * ms, true, 7),   one(6 * ms, false, 7), one(7 * ms, true, 8),
                       one(12 * ms, false, 8), one(13 * ms, true, 7), one(15 * ms, false, 7)};
    now = 20 * ms;
    ASSERT_TRUE(recorder->read_switches());
    recorder->end();
    const auto &turns = told.turns["GR0"];
    ASSERT_EQ(turns.size(), 2U);
    EXPECT_EQ(turns[0].begin_ns, 10 * ms) << "the rest of it was before";
    EXPECT_EQ(turns[0].end_ns, 12 * ms);
    EXPECT_FALSE(turns[0].whole);
    EXPECT_EQ(turns[1].gap_ns, 1 * ms);
}

TEST_F(RecorderTest, IntervalsFollowEachOtherAndAddUp) {
    now = 10 * ms;
    recorder->begin();
    std::uint64_t switched = 11 * ms;
    for (int n = 0; n < 5; n++) {
        for (int turn = 0; turn < 7; turn++) {
            kernel.switches.push_back(one(switched, true, 7 + turn % 2));
            kernel.switches.push_back(one(switched += 2 * ms, false, 7 + turn % 2));
            switched += 84'000;
        }
        kernel.switches.push_back(one(switched, true, 9));
        // The last turns end after the clock was read, or go on.
        now = n % 2 ? switched - 3 * ms : switched + 1 * ms;
        ASSERT_TRUE(recorder->split());
        switched += 2 * ms;
        kernel.switches.push_back(one(switched, false, 9));
        switched += 84'000;
        const LaneEnd end = told.ends["GR0"].back();
        std::uint64_t sum = 0;
        for (const Turn &turn : told.turns["GR0"]) {
            EXPECT_GE(turn.begin_ns, *end.begin_ns);
            EXPECT_LE(turn.end_ns, *end.end_ns);
            sum += turn.end_ns - turn.begin_ns + turn.gap_ns.value_or(0);
        }
        EXPECT_LE(sum, *end.end_ns - *end.begin_ns);
        EXPECT_GE(sum + 2 * ms, *end.end_ns - *end.begin_ns);
        told.turns.clear();
    }
    const auto &ends = told.ends["GR0"];
    for (std::size_t n = 1; n < ends.size(); n++)
        EXPECT_EQ(ends[n].begin_ns, ends[n - 1].end_ns);
}

TEST_F(RecorderTest, SamplesOfEachIntervalAreCounted) {
    recorder->begin();
    for (int n = 1; n <= 3; n++) {
        for (int sample = 0; sample < n; sample++) {
            now += period;
            ASSERT_TRUE(recorder->sample());
        }
        ASSERT_TRUE(recorder->split());
        for (const auto &[engine, ends] : told.ends)
            EXPECT_EQ(ends.back().samples, static_cast<std::uint64_t>(n)) << engine;
    }
}

TEST_F(RecorderTest, EachEngineHasItsOwnLastTurn) {
    recorder->begin();
    kernel.switches = {one(10 * ms, true, 7)};
    for (int n = 0; n < 4; n++) {
        now += period;
        ASSERT_TRUE(recorder->sample());
        ASSERT_TRUE(recorder->read_switches());
    }
    recorder->end();
    const auto states = gpu.engine_states();
    ASSERT_TRUE(states);
    for (const nvdebug::EngineState &state : *states) {
        if (state.engine == "GR0")
            continue;
        for (const Turn &turn : told.turns[state.engine]) {
            EXPECT_EQ(turn.who.runlist, state.runlist) << state.engine;
            EXPECT_TRUE(state.current && state.current->id == turn.who.tsg) << state.engine;
        }
    }
    EXPECT_EQ(told.turns["GR0"].size(), 1U);
}

TEST_F(RecorderTest, ANumberIsAnotherProcessOnceItsOwnerHasEnded) {
    constexpr std::uint32_t pid = 4711;
    const auto runs = [&](const char *command, std::uint64_t started) {
        kernel.processes.erase(pid);
        kernel.add_process(pid, {});
        kernel.processes[pid].command = command;
        kernel.processes[pid].started = started;
    };
    runs("first", 100);
    recorder->begin();
    kernel.switches = {one(10 * ms, true, pid), one(12 * ms, false, pid)};
    now = 15 * ms;
    ASSERT_TRUE(recorder->read_switches());
    EXPECT_EQ(told.names.back(), "first");
    runs("second", 200);
    kernel.switches.push_back(one(20 * ms, true, pid));
    kernel.switches.push_back(one(25 * ms, false, pid));
    now = 30 * ms;
    ASSERT_TRUE(recorder->read_switches());
    EXPECT_EQ(told.names.back(), "second");
    nvdebug::Tally tally;
    for (const Turn &turn : told.turns["GR0"])
        tally.add(turn);
    ASSERT_EQ(tally.holders().size(), 2U) << "each has its own time";
    EXPECT_EQ(tally.holders().begin()->second.ns, 2 * ms);
}

} // namespace
} // namespace nvdebugctl
