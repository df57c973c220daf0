// SPDX-License-Identifier: MIT OR GPL-2.0
// Tests the recorders of several GPUs, over the stand-in for NVIDIA's driver.
#include "eight_gpus.hpp"

#include "recording/aligned.hpp"
#include "recording/recorders.hpp"
#include "recording/totals.hpp"
#include "tests/support/trace.hpp"

#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace driver_test {
namespace {

using nvdebugctl::ClockReading;
using nvdebugctl::Json;
using nvdebugctl::Lane;
using nvdebugctl::LaneEnd;
using nvdebugctl::Recorders;

constexpr std::uint64_t period_ns = 100'000'000;

/// Keeps the thread that reads each GPU, and counts the GPU's events.
class Seen final : public nvdebugctl::Sink {
  public:
    void clock(std::uint32_t gpu, const ClockReading &reading) override {
        totals.clock(gpu, reading);
        clocks[gpu]++;
        threads[gpu] = std::this_thread::get_id();
        events[gpu]++;
    }
    void process(std::uint32_t gpu, const nvdebugctl::RecordedProcess &process) override {
        totals.process(gpu, process);
    }
    void turn(const Lane &lane, const nvdebug::Turn &turn,
              const nvdebugctl::RecordedProcess *process) override {
        totals.turn(lane, turn, process);
        events[lane.gpu]++;
    }
    using Sink::end;
    void end(const Lane &lane, const LaneEnd &end) override {
        totals.end(lane, end);
        events[lane.gpu]++;
        if (lane.engine == "LCE2")
            ends[lane.gpu] = end;
    }

    nvdebugctl::Totals totals;
    std::map<std::uint32_t, std::thread::id> threads;
    std::map<std::uint32_t, int> events, clocks;
    std::map<std::uint32_t, LaneEnd> ends; ///< of a sampled engine
};

class OfEightGpus : public EightGpus {
  protected:
    OfEightGpus() {
        // A thread that hangs may read the clock until the stand-in ends. The stand-in's lock
        // protects it.
        kernel.clock = [now = std::uint64_t{1'000'000'000}]() mutable { return ++now; };
    }
    Seen seen;
};

TEST_F(OfEightGpus, AreReadAtOnce) {
    Recorders recorders(seen, plenty);
    recorders.start(gpus, period_ns);
    recorders.begin();
    ASSERT_EQ(recorders.gpus().size(), gpus.size());
    Together together(gpus.size());
    kernel.before_ioctl = [&] { together.wait(); };
    recorders.sample();
    recorders.read_switches();
    recorders.split();
    recorders.end();
    kernel.before_ioctl = nullptr;
    EXPECT_FALSE(together.gave_up()) << "only " << together.most() << " were asked at once";
    EXPECT_TRUE(recorders.take_errors().empty());
    std::set<std::uint32_t> recorded;
    const Json summary = seen.totals.summary(std::nullopt);
    for (const Json &engine : summary["engines"])
        recorded.insert(engine["gpu"].get<std::uint32_t>());
    EXPECT_EQ(recorded.size(), gpus.size()) << "in one sink";
}

/// torchrun has started two ranks, each on a GPU. Their turns lie far behind the present, so that the
/// time between two readings of clocks is nothing beside their lengths.
TEST_F(OfEightGpus, RunAJobTogetherForAPartOfItsTime) {
    kernel.clock = [] {
        return static_cast<std::uint64_t>(
            std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    };
    kernel.processes[70] = {.command = "torchrun", .uses_gpu = false};
    for (const std::uint32_t pid : {71U, 72U}) {
        kernel.add_process(pid, {});
        kernel.processes[pid].command = "python";
        kernel.processes[pid].parent = 70;
        kernel.processes[pid].gpu = pid - 71;
    }
    Recorders recorders(seen, plenty);
    recorders.start(gpus, period_ns);
    recorders.begin();
    recorders.look_for_processes();
    for (std::uint32_t gpu = 0; gpu < gpus.size(); gpu++)
        EXPECT_EQ(seen.clocks[gpu], 2) << "clocks drift, so that the first readings are not enough";
    constexpr std::uint64_t second = 1'000'000'000;
    const std::uint64_t now = kernel.clock();
    const auto turn = [&](std::uint32_t pid, std::uint64_t from, std::uint64_t to) {
        std::vector<rm::SwitchRecord> records(2);
        for (rm::SwitchRecord &record : records)
            record.pid = record.context = pid;
        records[0].tag = rm::SwitchRecord::starts;
        records[1].tag = rm::SwitchRecord::ends;
        records[0].ns = now + from;
        records[1].ns = now + to;
        return records;
    };
    {
        const auto stopped = kernel.stop();
        kernel.switches = turn(71, 1'000 * second, 5'000 * second);
        kernel.switches_of[kernel.cards[1].gpu_id] = turn(72, 4'000 * second, 8'000 * second);
    }
    recorders.read_switches();
    recorders.end();
    const Json jobs = seen.totals.summary(std::nullopt)["jobs"];
    ASSERT_EQ(jobs.size(), 1U) << jobs;
    EXPECT_EQ(jobs[0]["name"], "python[71] (2 processes)");
    EXPECT_EQ(jobs[0]["gpus"], Json::array({0, 1}));
    EXPECT_NEAR(jobs[0]["together_percent"].get<double>(), 25, 1);
}

/// The clocks of the GPUs began at different times, and GPU n gains n percent.
TEST_F(OfEightGpus, WithClocksThatDriftAreOnOneClockInATrace) {
    const auto monotonic = [] {
        return static_cast<std::uint64_t>(
            std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    };
    const std::uint64_t begin = monotonic();
    const auto shown = [begin](std::uint64_t n, std::uint64_t at) {
        return 1'000'000'000'000 * (8 - n) + (at - begin) + (at - begin) / 100 * n;
    };
    for (std::uint64_t n = 0; n < gpus.size(); n++)
        kernel.clock_of[kernel.cards[n].gpu_id] = [=] { return shown(n, monotonic()); };
    const auto trace = nvdebugctl::make_aligned();
    Recorders recorders(*trace, plenty);
    recorders.start(gpus, 0);
    trace->head({"", "driver", 0, recorders.gpus()});
    recorders.begin();
    const std::uint64_t turn_begin = monotonic() + 5'000'000, turn_end = turn_begin + 5'000'000;
    {
        const auto stopped = kernel.stop();
        for (std::uint64_t n = 0; n < gpus.size(); n++) {
            std::vector<rm::SwitchRecord> records(2);
            for (rm::SwitchRecord &record : records)
                record.pid = record.context = 70;
            records[0].tag = rm::SwitchRecord::starts;
            records[0].ns = shown(n, turn_begin);
            records[1].tag = rm::SwitchRecord::ends;
            records[1].ns = shown(n, turn_end);
            (n ? kernel.switches_of[kernel.cards[n].gpu_id] : kernel.switches) = records;
        }
    }
    while (monotonic() < turn_end)
        std::this_thread::sleep_for(1ms);
    recorders.read_switches();
    recorders.end();
    trace->end(Json::object());
    const perfetto_test::Trace read = perfetto_test::read_trace(trace->text());
    ASSERT_FALSE(read.clocks.empty());
    // CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC by the time for which the machine slept.
    const std::uint64_t slept = read.clocks[0].at(6) - read.clocks[0].at(3);
    std::map<std::uint64_t, std::int64_t> error; ///< by the track of a GPU
    for (const auto &event : read.events)
        if (const auto fact = event.facts.find("error_ns"); fact != event.facts.end())
            error[read.tracks.at(event.track).parent] = fact->second;
    EXPECT_EQ(error.size(), gpus.size());
    std::size_t turns = 0;
    for (const auto &event : read.events) {
        const auto &track = read.tracks.at(event.track);
        if (track.name != "GR0")
            continue;
        const std::uint64_t truth = slept + (event.type == 1 ? turn_begin : turn_end);
        EXPECT_LE(std::abs(static_cast<std::int64_t>(event.ns - truth)),
                  error.at(track.parent) + 100)
            << "100 ns are between the readings of CLOCK_MONOTONIC and CLOCK_BOOTTIME";
        turns += event.type == 1;
    }
    EXPECT_EQ(turns, gpus.size());
}

TEST_F(OfEightGpus, OneThatHangsIsLeftOutAndTheOthersGoOn) {
    constexpr std::uint32_t dead = 3;
    std::promise<void> lives;
    {
        Recorders recorders(seen, 3s);
        recorders.start(gpus, period_ns);
        recorders.begin();
        ASSERT_EQ(seen.threads.size(), gpus.size());
        kernel.before_ioctl = [until = lives.get_future().share(), hanging = seen.threads[dead]] {
            if (std::this_thread::get_id() == hanging)
                until.wait();
        };
        const int before = seen.events[dead];
        std::vector<nvdebug::Error> errors;
        int rounds = 0, silent = 0;
        while (errors.empty()) {
            recorders.sample();
            rounds++;
            errors = recorders.take_errors();
            silent += errors.empty() && !recorders.silent().empty();
        }
        EXPECT_GT(rounds, 1) << "the others did not wait until it was left";
        EXPECT_EQ(silent, rounds - 1);
        EXPECT_TRUE(recorders.any_hangs());
        ASSERT_EQ(errors.size(), 1U);
        EXPECT_EQ(errors[0].code, nvdebug::ErrorCode::timeout);
        EXPECT_NE(errors[0].sentence.find("gpu3 did not answer within 3 s"), std::string::npos)
            << errors[0].sentence;
        recorders.end();
        EXPECT_TRUE(recorders.take_errors().empty());
        for (std::uint32_t n = 0; n < gpus.size(); n++) {
            ASSERT_EQ(seen.ends.contains(n), n != dead);
            if (n != dead) {
                EXPECT_GE(seen.ends[n].samples + seen.ends[n].missed,
                          static_cast<std::uint64_t>(rounds));
            }
        }
        EXPECT_EQ(seen.events[dead], before);
    }
    lives.set_value();
}

TEST_F(OfEightGpus, OneThatIsSlowGoesOn) {
    constexpr std::uint32_t slow = 5;
    std::promise<void> answers;
    Recorders recorders(seen, plenty);
    recorders.start(gpus, period_ns);
    recorders.begin();
    kernel.before_ioctl = [until = answers.get_future().share(), hanging = seen.threads[slow]] {
        if (std::this_thread::get_id() == hanging)
            until.wait();
    };
    for (int n = 0; n < 4; n++)
        recorders.sample();
    EXPECT_GE(recorders.silent().size(), 1U);
    answers.set_value();
    recorders.end();
    EXPECT_TRUE(recorders.take_errors().empty());
    EXPECT_TRUE(recorders.silent().empty());
    EXPECT_EQ(seen.ends[slow].samples, 1U) << "the one that it was busy with";
    EXPECT_EQ(seen.ends[slow].missed, 3U);
    EXPECT_EQ(seen.ends[0].samples + seen.ends[0].missed, 4U);
}

TEST_F(OfEightGpus, OneThatIsGoneEndsAlone) {
    Recorders recorders(seen, plenty);
    recorders.start(gpus, period_ns);
    recorders.begin();
    recorders.sample();
    kernel.deny = kernel.ioctls + 1;
    kernel.deny_with = rm::gpu_is_lost;
    recorders.read_switches();
    auto errors = recorders.take_errors();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, nvdebug::ErrorCode::gone);
    recorders.read_switches();
    recorders.end();
    EXPECT_TRUE(recorders.take_errors().empty());
    EXPECT_EQ(seen.ends.size(), gpus.size()) << "that one's, too, when it was lost";
    EXPECT_FALSE(recorders.any_hangs());
}

} // namespace
} // namespace driver_test
