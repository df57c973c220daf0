// SPDX-License-Identifier: MIT OR GPL-2.0
// Compares the recorder with the model's own record of its engines' tasks, over the stand-in for
// NVIDIA's driver.
#include "bench.hpp"

#include "recording/recorder.hpp"
#include "recording/totals.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>

namespace driver_test {
namespace {

using nvdebugctl::Json;
using nvdebugctl::Lane;
using nvdebugctl::Recorder;
using nvdebugctl::Totals;

/// The task on GR0 in each microsecond, by the engine time that channels got.
class Truth {
  public:
    explicit Truth(nvmodel::Gpu &gpu) : gpu_(gpu) { look(); }

    struct Turn {
        unsigned tsg;
        std::uint64_t begin_ns, end_ns;
    };

    /// Called after each access, which takes a microsecond.
    void look() {
        std::map<unsigned, double> progress;
        for (const nvmodel::ChannelProgress &each : gpu_.progress())
            if (each.engine == "GR0" && each.tsg)
                progress[*each.tsg] += each.progress_us;
        const auto ns = static_cast<std::uint64_t>(gpu_.now());
        for (const auto &[tsg, us] : progress) {
            if (us <= before_[tsg])
                continue;
            if (turns_.empty() || turns_.back().tsg != tsg)
                turns_.push_back({tsg, last_, ns});
            turns_.back().end_ns = ns;
        }
        before_ = std::move(progress);
        last_ = ns;
    }

    const std::vector<Turn> &turns() const { return turns_; }

  private:
    nvmodel::Gpu &gpu_;
    std::map<unsigned, double> before_;
    std::uint64_t last_ = 0;
    std::vector<Turn> turns_;
};

/// Keeps the turns of GR0, and sums the turns of all engines.
class Kept final : public nvdebugctl::Sink {
  public:
    void process(std::uint32_t gpu, const nvdebugctl::RecordedProcess &process) override {
        totals.process(gpu, process);
        processes[process.pid] = process;
    }
    void turn(const Lane &lane, const nvdebug::Turn &turn,
              const nvdebugctl::RecordedProcess *process) override {
        totals.turn(lane, turn, process);
        if (lane.engine == "GR0")
            turns.push_back(turn);
    }
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        totals.lost(lane, ns, count);
        lost_at.emplace_back(ns, count);
    }
    void mark(const nvdebugctl::Mark &mark) override { marks.push_back(mark); }
    void clock(std::uint32_t, const nvdebugctl::ClockReading &reading) override {
        clocks++;
        last_clock = reading;
    }
    void end(const Lane &lane, const nvdebugctl::LaneEnd &end) override { totals.end(lane, end); }
    using Sink::end;

    /// Returns GR0 of the summary.
    Json gr0() const {
        const Json summary = totals.summary(std::nullopt);
        for (const Json &engine : summary["engines"])
            if (engine["engine"] == "GR0")
                return engine;
        return nullptr;
    }

    Totals totals;
    std::vector<nvdebug::Turn> turns;
    std::map<std::uint32_t, nvdebugctl::RecordedProcess> processes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> lost_at;
    std::vector<nvdebugctl::Mark> marks;
    int clocks = 0;
    nvdebugctl::ClockReading last_clock = {};
};

class Recorded : public Driver {
  protected:
    Recorded() {
        kernel.clock = [this] { return static_cast<std::uint64_t>(bench.gpu.now()); };
        // The processes get the instance blocks of the model's own tasks.
        const nvdebug::Runlist list = gpu.runlist(0).value();
        for (const nvdebug::RunlistItem &item : list.items)
            if (const auto *const tsg = std::get_if<nvdebug::Tsg>(&item)) {
                std::vector<std::uint64_t> instances;
                for (const nvdebug::Channel &channel : tsg->channels)
                    instances.push_back(*channel.instance_place.address);
                kernel.add_process(first_pid + tsg->id, instances);
            }
    }

    std::unique_ptr<Recorder> start(std::uint64_t period_ns) {
        auto recorder = Recorder::start(gpu, period_ns, kept, notes);
        EXPECT_TRUE(recorder) << recorder.error().error.sentence;
        (*recorder)->begin();
        return std::move(*recorder);
    }

    static rm::SwitchRecord one(std::uint64_t ns, bool starts, std::uint32_t pid) {
        rm::SwitchRecord record{};
        record.tag = starts ? rm::SwitchRecord::starts : rm::SwitchRecord::ends;
        record.ns = ns;
        record.pid = pid;
        record.context = pid * 10;
        return record;
    }

    static constexpr std::uint32_t first_pid = 900'000'000; // no process on this machine has it
    const nvdebug::Gpu gpu{bench.tree(), 0};
    Kept kept;
    std::vector<std::string> notes;
};

TEST_F(Recorded, SamplesAgreeWithTheModelsTruth) {
    kernel.has_switches = false;
    constexpr std::uint64_t us = 1000, period = 100 * us; // 20 in a slice of 2 ms
    const auto recorder = start(period);
    EXPECT_FALSE(recorder->has_switches());
    ASSERT_EQ(notes.size(), 1U) << "that there are samples alone is said";
    // The register and the model count from different moments.
    const std::uint64_t since = *gpu.ptimer_ns() - static_cast<std::uint64_t>(bench.gpu.now());
    Truth truth(bench.gpu);
    const auto plain = kernel.registers;
    kernel.registers = [&](std::uint32_t offset) {
        const auto value = plain(offset);
        truth.look();
        return value;
    };
    const auto begin = static_cast<std::uint64_t>(bench.gpu.now());
    std::uint64_t next = begin, last_sample = begin;
    for (int n = 0; n < 2000; n++) {
        ASSERT_TRUE(recorder->sample());
        last_sample = static_cast<std::uint64_t>(bench.gpu.now());
        for (next += period; static_cast<std::uint64_t>(bench.gpu.now()) < next;) {
            bench.gpu.advance(nvmodel::ns_per_us);
            truth.look();
        }
    }
    recorder->end();
    kernel.registers = plain;

    const Json engine = kept.gr0();
    EXPECT_EQ(engine["by"], "samples");
    EXPECT_EQ(engine["samples"], 2000);
    EXPECT_EQ(engine["missed_samples"], 0);
    std::map<unsigned, double> held;
    double all = 0;
    for (const Truth::Turn &turn : truth.turns())
        held[turn.tsg] += static_cast<double>(turn.end_ns - turn.begin_ns);
    for (const auto &[tsg, ns] : held)
        all += ns;
    ASSERT_EQ(engine["holders"].size(), held.size());
    for (const Json &holder : engine["holders"]) {
        const unsigned tsg = holder["pid"].get<unsigned>() - first_pid;
        EXPECT_NEAR(holder["share_percent"].get<double>(), held.at(tsg) / all * 100, 1) << tsg;
    }
    // The samples show each turn of two periods or more in its place, right to a period, and show
    // no other turns. At each end there may be one more.
    std::size_t found = 0;
    for (const Truth::Turn &really : truth.turns()) {
        const std::uint64_t from = std::max(really.begin_ns, begin),
                            to = std::min(really.end_ns, last_sample);
        if (to < from + 2 * period)
            continue;
        const auto in_place = [&](const nvdebug::Turn &turn) {
            const auto near = [](std::uint64_t a, std::uint64_t b) {
                return std::max(a, b) - std::min(a, b) <= period;
            };
            return turn.who.tsg == really.tsg && near(turn.begin_ns - since, from) &&
                   near(turn.end_ns - since, to);
        };
        EXPECT_EQ(std::ranges::count_if(kept.turns, in_place), 1) << really.begin_ns;
        found++;
    }
    EXPECT_GT(found, 90U);
    EXPECT_LE(kept.turns.size(), found + 2);
}

TEST_F(Recorded, SwitchesAreJoinedWithTsgs) {
    const auto recorder = start(1'000'000);
    // The task that is on GR0 now must also have it when the sample is taken.
    bench.gpu.advance(100 * nvmodel::ns_per_us);
    const auto states = gpu.engine_states(nvdebug::Detail::brief);
    ASSERT_TRUE(states);
    const unsigned tsg = states->front().current->id;
    ASSERT_EQ(states->front().engine, "GR0");
    const std::uint32_t pid = first_pid + tsg;
    const auto begin = static_cast<std::uint64_t>(bench.gpu.now());
    kernel.switches = {one(begin, true, pid)};
    ASSERT_TRUE(recorder->read_switches());
    bench.gpu.advance(200 * nvmodel::ns_per_us);
    ASSERT_TRUE(recorder->sample());
    bench.gpu.advance(200 * nvmodel::ns_per_us);
    const auto end = static_cast<std::uint64_t>(bench.gpu.now());
    kernel.switches.push_back(one(end, false, pid));
    kernel.switches.push_back(one(end + 50'000, true, pid));
    ASSERT_TRUE(recorder->read_switches());
    recorder->end();
    ASSERT_EQ(kept.turns.size(), 1U) << "the second ends before it begins: no turn";
    EXPECT_EQ(kept.turns[0].who, (nvdebug::Holder{.pid = pid,
                                                  .started = kept.processes.at(pid).started,
                                                  .context = pid * 10,
                                                  .runlist = 0,
                                                  .tsg = tsg}));
    EXPECT_EQ(kept.turns[0].begin_ns, begin);
    EXPECT_EQ(kept.turns[0].end_ns, end);
    EXPECT_TRUE(kept.turns[0].whole);
    EXPECT_EQ(kept.processes.at(pid).command, "task") << "its name, while it lives";
    EXPECT_EQ(kept.processes.at(pid).tsgs.size(), 1U);
    EXPECT_EQ(kept.gr0()["by"], "switches");
    EXPECT_EQ(kept.clocks, 2) << "at the beginning and at the end";
}

TEST_F(Recorded, CountsLostSwitches) {
    const auto recorder = start(0);
    const auto begin = static_cast<std::uint64_t>(bench.gpu.now());
    bench.gpu.advance(1'000);
    kernel.switches = {one(begin + 100, true, 1), one(begin + 200, false, 1),
                       one(begin + 250, true, 2)};
    kernel.dropped = 5;
    ASSERT_TRUE(recorder->read_switches());
    EXPECT_EQ(kept.lost_at,
              (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{begin + 250, 5}}));
    ASSERT_TRUE(recorder->read_switches());
    EXPECT_EQ(kept.lost_at.size(), 1U) << "once";
    kernel.switches.push_back(one(begin + 900, false, 3));
    kernel.switches.push_back(one(begin + 950, true, 1));
    kernel.switches.push_back(one(begin + 990, false, 1));
    kernel.dropped = 7;
    ASSERT_TRUE(recorder->read_switches());
    recorder->end();
    EXPECT_EQ(kept.gr0()["lost_switches"], 7);
    EXPECT_EQ(kept.gr0()["switches"], 1) << "from 200 to 250";
    ASSERT_EQ(kept.turns.size(), 3U);
    EXPECT_FALSE(kept.turns[1].whole);
    EXPECT_EQ(kept.turns[2].begin_ns, begin + 950);
}

TEST_F(Recorded, SamplesThatFailOrComeLateAreCounted) {
    const auto recorder = start(1'000'000);
    ASSERT_TRUE(recorder->sample());
    recorder->miss(3);
    kernel.clock = nullptr;
    ASSERT_TRUE(recorder->sample()) << "there is a register, too";
    kernel.clock = [this] { return static_cast<std::uint64_t>(bench.gpu.now()); };
    kernel.fail = kernel.ioctls + 2; // the first reads the time, the second the registers
    kernel.fail_with = ETIMEDOUT;
    ASSERT_TRUE(recorder->sample());
    kernel.fail = 0;
    recorder->end();
    EXPECT_EQ(kept.gr0()["samples"], 2);
    EXPECT_EQ(kept.gr0()["missed_samples"], 4);
    EXPECT_EQ(kept.gr0()["by"], "samples") << "nobody came or went";
}

TEST_F(Recorded, IsOverOnceTheGpuIsGone) {
    const auto recorder = start(1'000'000);
    kernel.deny = kernel.ioctls + 1;
    kernel.deny_with = rm::gpu_is_lost;
    const auto read = recorder->read_switches();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, nvdebug::ErrorCode::gone);
    kernel.deny = 0;
    recorder->end();
    EXPECT_EQ(kept.lost_at.size(), 0U);
}

TEST_F(Recorded, MarksAreByTheGpusClock) {
    const auto recorder = start(0);
    recorder->note_clocks();
    ASSERT_EQ(kept.clocks, 2) << "at the beginning, and now";
    recorder->mark(kept.last_clock.monotonic_ns + 1234, 7, "disable_channel 0:1");
    ASSERT_EQ(kept.marks.size(), 1U);
    EXPECT_EQ(kept.marks[0].ns, kept.last_clock.gpu_ns + 1234);
    recorder->end();
}

TEST_F(Recorded, HasOwnSwitchesWithoutRoot) {
    kernel.root = false;
    const auto recorder = start(1'000'000);
    EXPECT_TRUE(recorder->has_switches());
    EXPECT_FALSE(recorder->has_samples());
    ASSERT_EQ(notes.size(), 1U);
    const auto begin = static_cast<std::uint64_t>(bench.gpu.now());
    kernel.switches = {one(begin + 100, true, 0), one(begin + 200, false, 0)};
    ASSERT_TRUE(recorder->read_switches());
    recorder->end();
    ASSERT_EQ(kept.turns.size(), 1U);
    EXPECT_EQ(kept.gr0()["holders"][0]["name"], "hidden");
    kernel.has_switches = false;
    EXPECT_FALSE(Recorder::start(gpu, 0, kept, notes));
    EXPECT_FALSE(Recorder::start(gpu, 1'000'000, kept, notes));
}

} // namespace
} // namespace driver_test
