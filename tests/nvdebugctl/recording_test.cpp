// SPDX-License-Identifier: MIT OR GPL-2.0
// Forms of a recording: each has all of it, and can be read where it was cut.
#include "cli/page.hpp"
#include "lib/drawing/perfetto.hpp"
#include "lib/recording/file.hpp"
#include "recording/forms.hpp"
#include "recording/summary.hpp"
#include "recording/tee.hpp"
#include "recording/totals.hpp"
#include "tests/support/trace.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace nvdebugctl {
namespace {

using nvdebug::Holder;
using nvdebug::Turn;

constexpr std::uint64_t base = 1'763'860'000'123'456'789; // a double cannot hold it

const Lane gr0{0, "GR0", Lane::Means::switches}, lce2{0, "LCE2", Lane::Means::samples};

/// Replays a process with a hostile name, two TSGs, a hidden process, a loss and a mark.
void replay(Sink &sink) {
    const RecordedProcess first{7, "</script>,\"x\"", "/a", std::nullopt, {{0, 5, 2'048'000}}, 3},
        second{8, "two", std::nullopt, std::nullopt, {}, 0};
    sink.head({"2026-11-23T02:00:00.000Z", "driver", 50'000'000, {{0, "GH100", "0000:01:00.0"}}});
    sink.clock(0, {base, 1000, base - 5, 2000, 3});
    sink.process(0, first);
    sink.process(0, second);
    const Holder one{.pid = 7, .context = 12, .runlist = 0, .tsg = 5},
        other{.pid = 8, .context = 13};
    sink.turn(gr0, {one, base, base + 1'000'001, false, std::nullopt}, &first);
    sink.turn(gr0, {other, base + 1'084'001, base + 2'084'001, true, 84'000}, &second);
    sink.turn(gr0, {one, base + 2'168'001, base + 3'168'004, true, 84'000}, &first);
    sink.mark({0, base + 2'500'000, 99, "task_timeslice 500us"});
    sink.lost(gr0, base + 3'168'004, 17);
    sink.turn(gr0, {{.pid = 0, .context = 0}, base + 5'000'000, base + 5'000'100, false, {}},
              nullptr);
    sink.turn(lce2, {{.runlist = 2, .tsg = 3}, base + 25'000'000, base + 75'000'000, true, {}},
              nullptr);
    sink.end(gr0, {base, base + 10'000'000});
    sink.end(lce2, {base, base + 100'000'000, 3, 1, 100'000'000});
}

Json told_and_ended(Sink &sink) {
    Totals totals;
    Tee tee;
    tee.add(totals);
    tee.add(sink);
    replay(tee);
    const Json summary = totals.summary(0.005);
    tee.end(summary);
    return summary;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// A file with the text. It exists until the end of the test.
class File {
  public:
    explicit File(const std::string &text)
        : path_(std::filesystem::path(testing::TempDir()) /
                ("recording-" + std::to_string(::getpid()) + ".ndjson")) {
        std::ofstream(path_) << text;
    }
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

TEST(Summary, HasSharesSlicesAndUnknownTime) {
    Totals totals;
    replay(totals);
    const Json summary = totals.summary(0.005);
    EXPECT_EQ(summary["turns"], 5);
    EXPECT_EQ(summary["marks"], 1);
    EXPECT_EQ(summary["cost_percent"], 0.5);
    const Json &engine = summary["engines"][0];
    EXPECT_EQ(engine["lost_switches"], 17);
    EXPECT_EQ(engine["switches"], 2);
    EXPECT_EQ(engine["switch_median_us"], 84.0);
    EXPECT_NEAR(engine["switching_percent"].get<double>(), 1.68, 0.001);
    EXPECT_NEAR(engine["unknown_percent"].get<double>(), 100 - 30.00104 - 1.68, 0.01);
    const Json &first = engine["holders"][0];
    EXPECT_EQ(first["pid"], 7);
    EXPECT_NEAR(first["share_percent"].get<double>(), 20.00004, 0.0001);
    EXPECT_EQ(first["turns"], 2);
    EXPECT_EQ(first["slice_median_us"], 1000.003) << "of the one that is whole";
    EXPECT_EQ(first["away_median_us"], 1168.0);
    EXPECT_EQ(first["timeslice_us"], Json::array({2048.0}));
    EXPECT_EQ(first["tsgs"], Json::array({"0:5"}));
    EXPECT_EQ(engine["holders"][2]["name"], "hidden");
    const Json &copies = summary["engines"][1];
    EXPECT_EQ(copies["by"], "samples");
    EXPECT_EQ(copies["held_percent"], 50.0);
    EXPECT_EQ(copies["missed_samples"], 1);
    EXPECT_EQ(copies["holders"][0]["name"], "TSG 2:3");
}

/// The model's clock advances with accesses: here by 19 ms in two seconds.
TEST(Summary, WarnsOfASlowGpuClock) {
    const auto shown = [](std::uint64_t gpu_ns, std::uint64_t wall_ns, bool twice = true) {
        Totals totals;
        totals.clock(0, {1'000, 7'000, 0, 0, 10});
        totals.end(lce2, {1'000, 1'000 + gpu_ns, 1, 9, 0});
        if (twice)
            totals.clock(0, {1'000 + gpu_ns, 7'000 + wall_ns, 0, 0, 10});
        Page page(false);
        show_summary(totals.summary({}), page);
        return page.text();
    };
    EXPECT_NE(shown(19'000'000, 2'000'000'000)
                  .find("the GPU's clock went 0.019 s in 2.000 s: is it a model?"),
              std::string::npos);
    for (const std::string &text :
         {shown(2'000'000'000, 2'000'100'000), shown(1'001'000'000, 2'000'000'000),
          shown(19'000'000, 2'000'000'000, false)})
        EXPECT_EQ(text.find("is it a model"), std::string::npos) << text;
}

/// Without samples that follow each other, nothing is known of the time between them.
TEST(Summary, IsUnknownWithoutSamples) {
    Totals totals;
    totals.end(lce2, {0, 10'000'000, 1, 9, 0});
    const Json summary = totals.summary({}), &engine = summary["engines"][0];
    EXPECT_TRUE(engine["held_percent"].is_null());
    EXPECT_TRUE(engine["nobody_percent"].is_null());
    EXPECT_EQ(engine["unknown_percent"], 100.0);
}

TEST(Summary, CountsKnownTimeOfSamples) {
    for (const auto &[known_ns, nobody, unknown] :
         {std::tuple(10'000'000U, 75.0, 0.0), {5'000'000U, 50.0, 50.0}, {0U, 0.0, 75.0}}) {
        Totals totals;
        const Holder one{.pid = 7, .runlist = 0, .tsg = 5};
        totals.turn(lce2, {one, 1'000'000, 3'500'000, true, {}}, nullptr);
        totals.end(lce2, {0, 10'000'000, 9, 0, known_ns});
        const Json summary = totals.summary({}), &engine = summary["engines"][0];
        EXPECT_EQ(engine["nobody_percent"], nobody) << known_ns;
        EXPECT_EQ(engine["unknown_percent"], unknown) << known_ns;
        EXPECT_EQ(engine["held_percent"], 100 - nobody) << known_ns;
    }
}

TEST(Summary, CountsOnlyTurnsOfACutOffRecording) {
    Totals totals;
    const Holder one{.pid = 7, .runlist = 0, .tsg = 5};
    totals.turn(lce2, {one, 0, 1'000'000, true, {}}, nullptr);
    totals.turn(lce2, {one, 3'000'000, 4'000'000, false, {}}, nullptr);
    const Json summary = totals.summary({}), &engine = summary["engines"][0];
    EXPECT_EQ(engine["nobody_percent"], 0.0);
    EXPECT_EQ(engine["unknown_percent"], 50.0);
}

TEST(Summary, CountsSavingAsSwitching) {
    Totals totals;
    const RecordedProcess known{7, "one", std::nullopt, std::nullopt, {{0, 5, 1'000'000}}, 1},
        unknown{8, "two", std::nullopt, std::nullopt, {}, 0};
    const Holder one{.pid = 7, .context = 12, .runlist = 0, .tsg = 5}, two{.pid = 8, .context = 13};
    for (const RecordedProcess *const process : {&known, &unknown})
        totals.process(0, *process);
    totals.turn(gr0, {one, 0, 3'100'000, true, {}}, &known);
    totals.turn(gr0, {two, 3'200'000, 6'400'000, true, 100'000}, &unknown);
    totals.turn(lce2, {one, 0, 1'100'000, true, {}}, &known);
    totals.end(gr0, {0, 10'000'000});
    totals.end(lce2, {0, 10'000'000, 3, 0, 10'000'000});
    const Json summary = totals.summary({}), &engine = summary["engines"][0];
    EXPECT_EQ(engine["held_percent"], 62.0);
    EXPECT_EQ(engine["switching_percent"], 2.0) << "0.1 ms between, 0.1 ms before";
    EXPECT_EQ(engine["saving_median_us"], 100.0);
    EXPECT_EQ(engine["switch_median_us"], 100.0);
    EXPECT_EQ(engine["holders"][0]["share_percent"], 32.0) << "no timeslice is known";
    EXPECT_EQ(engine["holders"][0]["saving_us"], 0.0);
    EXPECT_EQ(engine["holders"][1]["share_percent"], 30.0);
    EXPECT_EQ(engine["holders"][1]["saving_us"], 100.0);
    EXPECT_EQ(engine["holders"][1]["held_us"], 3100.0);
    EXPECT_EQ(summary["engines"][1]["held_percent"], 11.0) << "samples do not tell";
}

TEST(Ndjson, ReplaysToTheSameText) {
    const auto sink = make_ndjson();
    const Json summary = told_and_ended(*sink);
    for (const std::string &line : lines_of(sink->text()))
        EXPECT_TRUE(Json::parse(line).contains("kind")) << line;
    const File file(sink->text());
    const auto again = make_ndjson();
    Totals totals;
    Tee tee;
    tee.add(*again);
    tee.add(totals);
    recording::RecordedFile recorded;
    const auto whole = recorded.replay(file.path(), tee);
    ASSERT_TRUE(whole) << whole.error().sentence;
    EXPECT_TRUE(*whole);
    again->end(summary);
    EXPECT_EQ(again->text(), sink->text());
    Json repeated = totals.summary(0.005);
    EXPECT_EQ(repeated, summary) << "what is added up of a file is what was added up at first";
}

std::set<std::string> keys_of(const std::vector<Field> &fields) {
    std::set<std::string> keys;
    for (const Field &field : fields)
        keys.insert(field.name);
    return keys;
}

std::set<std::string> keys_of(const Json &object) {
    std::set<std::string> keys;
    for (const auto &[key, value] : object.items())
        keys.insert(key);
    return keys;
}

TEST(Ndjson, HasTheKeysOfItsSchema) {
    std::map<std::string, std::vector<Field>> kinds;
    for (const Field &line : recording_lines())
        kinds[line.fields[0].type.substr(1)] = line.fields; // "=KIND"
    const auto sink = make_ndjson();
    told_and_ended(*sink);
    std::set<std::string> told;
    for (const std::string &text : lines_of(sink->text())) {
        const Json line = Json::parse(text);
        const std::string kind = line["kind"];
        told.insert(kind);
        EXPECT_EQ(keys_of(line), keys_of(kinds[kind])) << text;
        for (const Field &field : kinds[kind]) {
            if (!field.type.starts_with('['))
                continue;
            for (const Json &part : line[field.name])
                EXPECT_EQ(keys_of(part), keys_of(field.fields)) << text;
        }
    }
    EXPECT_EQ(told.size(), kinds.size()) << "each kind was told";
}

/// Returns the largest number in the value.
double largest(const Json &value) {
    double most = 0;
    if (value.is_number())
        return std::abs(value.get<double>());
    if (value.is_structured())
        for (const Json &each : value)
            most = std::max(most, largest(each));
    return most;
}

TEST(Summary, SortsEnginesByGpu) {
    const Lane last{2, "GR0", Lane::Means::switches}, between{1, "LCE2", Lane::Means::samples};
    Totals totals;
    totals.head({"2026-11-23T02:00:00.000Z", "driver", 0, {}});
    for (const Lane *const lane : {&last, &lce2, &between, &gr0})
        totals.turn(*lane, {{.pid = 7}, base, base + 5, true, {}}, nullptr);
    const Json summary = totals.summary(std::nullopt);
    std::vector<std::string> found;
    for (const Json &engine : summary["engines"])
        found.push_back(std::to_string(engine["gpu"].get<int>()) + " " +
                        engine["engine"].get<std::string>());
    EXPECT_EQ(found, (std::vector<std::string>{"0 LCE2", "0 GR0", "1 LCE2", "2 GR0"}));
}

TEST(Ndjson, NumbersFitIntoADouble) {
    for (const auto make : {make_ndjson, make_html}) {
        const auto sink = make();
        told_and_ended(*sink);
        for (const std::string &line : lines_of(sink->text())) {
            if (line.starts_with("{\"kind\"")) {
                EXPECT_LT(largest(Json::parse(line)), 0x1p53) << line;
            }
        }
    }
}

TEST(Ndjson, HasTimesOfAGpuWhoseClockCannotBeRead) {
    const auto sink = make_ndjson();
    sink->head({"2026-11-23T02:00:00.000Z", "driver", 0, {{0, "GH100", {}}}});
    sink->turn(gr0, {{.pid = 7, .context = 1}, base, base + 5, true, {}}, nullptr);
    sink->turn(lce2, {{.runlist = 2, .tsg = 3}, base - 50, base + 75, true, {}}, nullptr);
    sink->end(gr0, {});
    const std::string text = sink->text();
    struct Turns final : Sink {
        void turn(const Lane &, const Turn &turn, const RecordedProcess *) override {
            begins.push_back(turn.begin_ns);
        }
        using Sink::end;
        std::vector<std::uint64_t> begins;
    } turns;
    ASSERT_TRUE(recording::RecordedFile().replay(File(text).path(), turns));
    EXPECT_EQ(turns.begins, (std::vector<std::uint64_t>{base, base - 50}));
}

TEST(Ndjson, ReadsTheWholeLinesOfACutFile) {
    const auto sink = make_ndjson();
    told_and_ended(*sink);
    const std::string text = sink->text();
    for (std::size_t length = 0; length < text.size(); length += 7) {
        const File file(text.substr(0, length));
        Totals totals;
        recording::RecordedFile recorded;
        const auto whole = recorded.replay(file.path(), totals);
        EXPECT_EQ(whole.has_value(), length > text.find('\n')) << length;
        EXPECT_FALSE(whole.value_or(false)) << length;
    }
}

TEST(Ndjson, RefusesOtherFiles) {
    for (const char *const text :
         {"{}\n", "x\n", "{\"kind\":\"turn\"}\n", "{\"kind\":\"clock\",\"gpu\":0}\n", "[1]\n",
          "{\"kind\":\"recording\"}\n"}) {
        const File file(text);
        Totals totals;
        const auto whole = recording::RecordedFile().replay(file.path(), totals);
        ASSERT_FALSE(whole) << text;
        EXPECT_NE(whole.error().sentence.find("line 1 of"), std::string::npos);
    }
    Totals totals;
    EXPECT_FALSE(recording::RecordedFile().replay("/nonexistent", totals));
    EXPECT_FALSE(recording::RecordedFile().replay("/", totals));
}

TEST(CsvForm, HasALineForEachEvent) {
    const auto sink = make_csv();
    told_and_ended(*sink);
    const auto lines = lines_of(sink->text());
    ASSERT_EQ(lines.size(), 12U);
    EXPECT_EQ(lines[1], "origin,0,," + std::to_string(base) + ",,,,,,,,,,");
    EXPECT_EQ(lines[2], "clock,0,,0,,,,,,,,,,1000");
    EXPECT_EQ(lines[4], "turn,0,GR0,1084001,2084001,true,8,two,13,,,,,");
    for (const std::string &line : lines) {
        std::size_t commas = 0;
        bool quoted = false;
        for (const char letter : line) {
            quoted ^= letter == '"';
            commas += letter == ',' && !quoted;
        }
        EXPECT_EQ(commas, 13U) << line;
    }
}

TEST(HtmlForm, HoldsTheLinesAndNoNameEndsTheScript) {
    const auto sink = make_html();
    const Json summary = told_and_ended(*sink);
    const std::string &text = sink->text();
    const std::string begin = "type=\"application/x-ndjson\">\n";
    const std::size_t at = text.find(begin);
    ASSERT_NE(at, std::string::npos);
    const std::string data = text.substr(at + begin.size());
    EXPECT_EQ(data.find('<'), data.size() - std::string("</script>\n").size());
    std::vector<std::string> kinds;
    for (const std::string &line : lines_of(data))
        if (line != "</script>")
            kinds.push_back(Json::parse(line)["kind"]);
    EXPECT_EQ(kinds.size(), 15U);
    EXPECT_EQ(text.find("http://"), std::string::npos) << "it loads nothing";
    EXPECT_EQ(text.find("https://"), std::string::npos);
}

using perfetto_test::Event;
using perfetto_test::read_trace;
using perfetto_test::Trace;

TEST(PerfettoForm, HasATrackForEachEngineAndWholeNanoseconds) {
    const auto sink = drawing::make_perfetto();
    told_and_ended(*sink);
    const Trace trace = read_trace(sink->text());
    ASSERT_EQ(trace.clocks.size(), 1U);
    EXPECT_EQ(trace.clocks[0],
              (std::map<unsigned, std::uint64_t>{{64, base}, {6, 2000}, {3, 1000}, {1, base - 5}}));
    std::map<std::string, std::uint64_t> uuids;
    for (const auto &[uuid, track] : trace.tracks)
        uuids[track.name] = uuid;
    for (const char *const name :
         {"gpu0 GH100 0000:01:00.0", "GR0", "LCE2 (sampled)", "two", "gpu0 GR0 TSG 0:5",
          "gpu0 GR0 context 13", "gpu0 LCE2 TSG 2:3", "controls", "</script>,\"x\""})
        EXPECT_TRUE(uuids.contains(name)) << name;
    EXPECT_EQ(trace.tracks.at(uuids["GR0"]).parent, uuids["gpu0 GH100 0000:01:00.0"]);
    EXPECT_EQ(trace.tracks.at(uuids["two"]).pid, 8);
    EXPECT_EQ(trace.tracks.at(uuids["gpu0 GR0 context 13"]).parent, uuids["two"]);

    // Each slice of a track must end before the next one begins.
    std::map<std::uint64_t, std::optional<std::uint64_t>> open;
    std::size_t slices = 0;
    for (const Event &event : trace.events) {
        EXPECT_EQ(event.clock, 64U);
        EXPECT_TRUE(trace.tracks.contains(event.track));
        if (event.type == 1) {
            EXPECT_FALSE(open[event.track]);
            open[event.track] = event.ns;
        } else if (event.type == 2) {
            ASSERT_TRUE(open[event.track]);
            EXPECT_LE(*open[event.track], event.ns);
            open[event.track].reset();
            slices++;
        }
    }
    EXPECT_EQ(slices, 10U) << "each turn on its engine's track and on its TSG's";
    EXPECT_EQ(trace.events[0].ns, base);
    EXPECT_EQ(trace.events[1].ns, base + 1'000'001);
}

TEST(PerfettoForm, IsReadPieceByPiece) {
    const auto sink = drawing::make_perfetto();
    std::string text;
    replay(*sink);
    // The text always consists of whole packets.
    EXPECT_NO_THROW(read_trace(sink->text()));
    std::swap(text, sink->text());
    sink->turn(gr0, {{.pid = 8, .context = 13}, base + 6'000'000, base + 7'000'000, true, {}},
               nullptr);
    const std::size_t before = read_trace(text).events.size();
    EXPECT_EQ(read_trace(text + sink->text()).events.size(), before + 4);
}

} // namespace
} // namespace nvdebugctl
