// SPDX-License-Identifier: MIT OR GPL-2.0
// Traces for Perfetto of several GPUs with clocks that differ and drift: one clock, and its error.
#include "cli/command.hpp"
#include "recording/aligned.hpp"
#include "tests/support/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <set>

namespace nvdebugctl {
namespace {

using perfetto_test::Event;
using perfetto_test::read_trace;
using perfetto_test::Trace;

constexpr std::uint64_t one_s = 1'000'000'000, one_us = 1'000;
const std::array gr0_of_each = {Lane{0, "GR0", Lane::Means::switches},
                                Lane{1, "GR0", Lane::Means::switches}};

/// A clock of a GPU that began at another time than the machine's, drifts, and drifts more and more.
struct DriftingClock {
    double begin_ns, drift, bend; ///< in ns a second, and in ns a second each second
    /// Returns what it shows when CLOCK_MONOTONIC shows 100 s and @p after.
    std::uint64_t at(std::uint64_t after) const {
        const double s = static_cast<double>(after) / 1e9;
        return static_cast<std::uint64_t>(begin_ns) + after +
               static_cast<std::uint64_t>(std::llround(drift * s + bend / 2 * s * s));
    }
};
const std::array drifting = {DriftingClock{5e12, 20'000, 0}, DriftingClock{7.7e10, 100'000, 300}};

constexpr std::uint64_t monotonic_at_begin = 100 * one_s, sleep_before = 3'600 * one_s;
constexpr std::uint64_t within = 4'000, seconds_of_run = 10;

/// Reads the clock of a GPU, up to `within` too early or too late, as the direction of @p wrong is.
void read_clock_of(Sink &sink, std::uint32_t gpu, std::uint64_t after, int wrong) {
    const std::uint64_t monotonic =
        monotonic_at_begin + after + static_cast<std::uint64_t>(wrong * static_cast<int>(within));
    sink.clock(gpu,
               {drifting[gpu].at(after), monotonic, monotonic, monotonic + sleep_before, within});
}

/// Replays turns that begin and end at the same moments on both GPUs, a quarter of a second long.
void replay_drifting(Sink &sink, std::uint64_t seconds = seconds_of_run) {
    sink.head({"2026-11-23T02:00:00.000Z", "driver", 0, {{0, "GH100", {}}, {1, "GH100", {}}}});
    for (std::uint64_t second = 0; second <= seconds; second++) {
        for (const std::uint32_t gpu : {0U, 1U}) {
            if (second > 0)
                for (const std::uint64_t quarter : {1U, 3U}) {
                    const std::uint64_t from = (second - 1) * one_s + quarter * one_s / 4;
                    sink.turn(gr0_of_each[gpu],
                              {{.pid = 7, .context = 1},
                               drifting[gpu].at(from),
                               drifting[gpu].at(from + one_s / 4),
                               true,
                               {}},
                              nullptr);
                }
            read_clock_of(sink, gpu, second * one_s, (second + gpu) % 2 ? 1 : -1);
        }
    }
}

std::map<std::string, std::vector<Event>> events_by_track(const Trace &trace) {
    std::map<std::string, std::vector<Event>> found;
    for (const Event &event : trace.events) {
        const auto &track = trace.tracks.at(event.track);
        const std::string below = track.parent ? trace.tracks.at(track.parent).name + "/" : "";
        found[below + track.name].push_back(event);
    }
    return found;
}

std::int64_t off(std::uint64_t ns, std::uint64_t truth) {
    return std::abs(static_cast<std::int64_t>(ns - truth));
}

TEST(AlignedTrace, HasTurnsOfDriftingClocksWithinTheErrorThatItStates) {
    const auto sink = make_aligned();
    replay_drifting(*sink);
    sink->end(Json::object());
    const auto tracks = events_by_track(read_trace(sink->text()));
    for (const std::uint32_t gpu : {0U, 1U}) {
        const std::string head = gpu ? "gpu1 GH100 /" : "gpu0 GH100 /";
        ASSERT_TRUE(tracks.contains(head + "clock"));
        const Event &bound = tracks.at(head + "clock").back();
        ASSERT_TRUE(bound.facts.contains("error_ns")) << bound.name;
        const std::int64_t stated = bound.facts.at("error_ns");
        EXPECT_LE(stated, 10'000) << "the goal";
        const std::vector<Event> &turns = tracks.at(head + "GR0");
        ASSERT_EQ(turns.size(), 4 * seconds_of_run);
        std::int64_t worst = 0;
        for (std::size_t n = 0; n < turns.size(); n++) {
            EXPECT_EQ(turns[n].clock, 0U) << "CLOCK_BOOTTIME";
            const std::uint64_t truth =
                monotonic_at_begin + sleep_before + n / 4 * one_s + (n % 4 + 1) * one_s / 4;
            worst = std::max(worst, off(turns[n].ns, truth));
        }
        EXPECT_LE(worst, stated) << gpu;
        EXPECT_GT(worst, stated / 4) << "the stated error is no wild guess";
    }
}

TEST(AlignedTrace, StatesTheDriftBetweenReadings) {
    const auto sink = make_aligned();
    replay_drifting(*sink);
    sink->end(Json::object());
    const auto tracks = events_by_track(read_trace(sink->text()));
    const std::vector<Event> &clock = tracks.at("gpu0 GH100 /clock");
    ASSERT_EQ(clock.size(), 2 * seconds_of_run + 1) << "a slice for each second, and the bound";
    EXPECT_EQ(clock[0].ns, monotonic_at_begin + sleep_before - within);
    EXPECT_EQ(clock[0].facts.at("within_ns"), static_cast<std::int64_t>(within));
    EXPECT_NEAR(static_cast<double>(clock[0].facts.at("drift_ns_per_s")), -20'000 + 2 * 4'000, 1);
    EXPECT_EQ(clock[0].name, "read within 4.00 us, drift -12.0 us a second");
    EXPECT_EQ(clock.back().type, 3U);
    EXPECT_TRUE(clock.back().name.starts_with("times of gpu0 are within ")) << clock.back().name;
    EXPECT_TRUE(clock.back().name.ends_with(", drift -20.0 us a second")) << clock.back().name;
}

TEST(AlignedTrace, WithoutAFurtherReadingHasTheTurnsBeforeTheLastOne) {
    const auto sink = make_aligned();
    replay_drifting(*sink, 3);
    sink->turn(gr0_of_each[0],
               {{.pid = 7, .context = 1},
                drifting[0].at(3 * one_s),
                drifting[0].at(3 * one_s + 1),
                true,
                {}},
               nullptr);
    const auto cut = events_by_track(read_trace(sink->text()));
    EXPECT_EQ(cut.at("gpu0 GH100 /GR0").size(), 12U) << "a recording that was killed";
    sink->end(Json::object());
    EXPECT_EQ(events_by_track(read_trace(sink->text())).at("gpu0 GH100 /GR0").size(), 14U);
}

TEST(AlignedTrace, NamesContainerPodAndJobOfAProcess) {
    const std::string id(64, 'a');
    const std::array processes = {
        RecordedProcess{7, "train", "/docker/" + id, id, {}, 1},
        RecordedProcess{
            8, "serve", "/system.slice/slurmstepd.scope/job_17/step_0/user/task_0", {}, {}, 1},
        RecordedProcess{9, "shell", "/user.slice", {}, {}, 1}};
    const auto sink = make_aligned();
    sink->head({"2026-11-23T02:00:00.000Z", "driver", 0, {{0, "GH100", {}}}});
    for (const RecordedProcess &process : processes)
        sink->turn(gr0_of_each[0], {{.pid = process.pid, .context = process.pid}, 1, 2, true, {}},
                   &process);
    std::set<std::string> tracks, events;
    const Trace trace = read_trace(sink->text());
    for (const auto &[uuid, track] : trace.tracks)
        if (track.pid)
            tracks.insert(track.name);
    for (const Event &event : trace.events)
        if (event.type == 1)
            events.insert(event.name);
    EXPECT_EQ(tracks,
              (std::set<std::string>{"train in aaaaaaaaaaaa", "serve in job 17.0", "shell"}));
    EXPECT_EQ(events, (std::set<std::string>{"train[7] in aaaaaaaaaaaa", "serve[8] in job 17.0",
                                             "shell[9]"}));
}

TEST(AlignedTrace, KeepsTimesOfAGpuWithoutReadings) {
    const auto sink = make_aligned();
    sink->head({"2026-11-23T02:00:00.000Z", "module", 0, {{0, "GH100", {}}, {1, "GH100", {}}}});
    sink->turn(gr0_of_each[0], {{.tsg = 7}, 5'000, 6'000, true, {}}, nullptr);
    const Trace trace = read_trace(sink->text());
    ASSERT_EQ(trace.events.size(), 4U) << "at once";
    EXPECT_EQ(trace.events[0].ns, 5'000U);
    sink->end(Json::object());
    EXPECT_EQ(read_trace(sink->text()).events.size(), 4U) << "nothing is stated";
}

TEST(AlignedTrace, DoesNotKnowTheErrorAfterOneReading) {
    const auto sink = make_aligned();
    replay_drifting(*sink, 0);
    sink->end(Json::object());
    const auto tracks = events_by_track(read_trace(sink->text()));
    const Event &bound = tracks.at("gpu1 GH100 /clock").back();
    EXPECT_EQ(bound.name, "how far times of gpu1 are from the machine's clock is not known");
    EXPECT_TRUE(bound.facts.empty());
}

TEST(AlignedTrace, KeepsABoundedNumberOfTurnsAndThenDoesNotKnowTheError) {
    const auto sink = make_aligned(4);
    replay_drifting(*sink, 1);
    EXPECT_EQ(events_by_track(read_trace(sink->text())).at("gpu0 GH100 /GR0").size(), 4U);
    for (std::uint64_t n = 0; n < 4; n++)
        sink->turn(gr0_of_each[0],
                   {{.pid = 7, .context = 1},
                    drifting[0].at(one_s + n),
                    drifting[0].at(one_s + n + 1),
                    true,
                    {}},
                   nullptr);
    const auto tracks = events_by_track(read_trace(sink->text()));
    EXPECT_EQ(tracks.at("gpu0 GH100 /GR0").size(), 12U) << "they do not wait for a reading";
    sink->end(Json::object());
    for (const auto &[gpu, known] : {std::pair{0, false}, {1, true}})
        EXPECT_EQ(events_by_track(read_trace(sink->text()))
                      .at(gpu ? "gpu1 GH100 /clock" : "gpu0 GH100 /clock")
                      .back()
                      .facts.contains("error_ns"),
                  known)
            << gpu;
}

} // namespace
} // namespace nvdebugctl
