// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/json.hpp"
#include "live/top_view.hpp"
#include "live/watch_data.hpp"
#include "live/watch_view.hpp"
#include "state.hpp"

using namespace nvdebugctl;
using namespace nvdebugctl::tests;

namespace {

Sample sample(std::uint64_t number, std::vector<nvdebug::EngineState> engines) {
    return {number, "2026-01-31T12:00:00.000Z", std::move(engines), {}, 1};
}

const std::chrono::milliseconds period{500};
constexpr bool ascii = false;
constexpr Size small{24, 80}, large{60, 200};

std::vector<std::string> texts(const std::vector<ViewLine> &lines) {
    std::vector<std::string> result;
    for (const ViewLine &line : lines) {
        result.emplace_back();
        for (const Piece &piece : line)
            result.back() += piece.text;
    }
    return result;
}

std::string text_of(WatchView &view, const WatchedGpus &shown, Size size) {
    std::string text;
    for (const std::string &line : texts(view.lines(shown, size)))
        text += line + '\n';
    return text;
}

bool has(const std::string &text, const std::string &what) {
    return text.find(what) != text.npos;
}

/// Returns the line that begins with @p what.
std::string line_of(const std::string &text, const std::string &what) {
    const std::size_t at = ("\n" + text).find("\n" + what);
    return at == text.npos ? "" : text.substr(at, text.find('\n', at) - at);
}

/// A GPU with its last samples. The last sample has the states of `samples.back()`.
struct Seen {
    explicit Seen(std::vector<std::vector<nvdebug::EngineState>> samples, std::size_t window = 120)
        : residency(window), last(sample(samples.size(), samples.back())) {
        for (std::size_t n = 0; n < samples.size(); ++n)
            residency.add(sample(n + 1, samples[n]));
    }
    WatchedGpu as(const std::string &name) const { return {name, last, residency}; }
    WatchedGpus shown() const { return {{as("gpu0  TU102")}, "live", period}; }

    Residency residency;
    Sample last;
};

/// GR0 has TSG 5 in half of the samples, and TSGs 6 and 7 in a quarter each. LCE0 is idle.
Seen three_tasks() {
    std::vector<std::vector<nvdebug::EngineState>> samples;
    for (std::uint32_t tsg : {5, 6, 5, 7})
        samples.push_back({on("GR0", 0, tsg), on("LCE0", 0, {}), on("LCE2", 1, 9)});
    return Seen(samples);
}

/// Returns a GPU with idle engines, each on a runlist of its own with an empty list.
Seen idle_gpu(std::size_t count) {
    std::vector<nvdebug::EngineState> engines;
    for (std::uint32_t n = 0; n < count; ++n)
        engines.push_back(on("LCE" + std::to_string(n), n, {}));
    Seen seen({engines, engines});
    for (std::uint32_t n = 0; n < count; ++n)
        seen.last.lists.emplace(n, runlist(n, {}));
    return seen;
}

} // namespace

TEST(Residency, NeedsTwoSamples) {
    Residency residency(10);
    const Sample first = sample(1, {on("GR0", 0, 5)});
    residency.add(first);
    EXPECT_FALSE(residency.of("GR0"));
    const Json data = watch_json(first, residency, period);
    EXPECT_TRUE(data["engines"][0]["residency"].is_null());
    EXPECT_TRUE(data["engines"][0]["busy_percent"].is_null());
    EXPECT_EQ(data["window_samples"], 1);
}

TEST(Residency, IsThePartOfTheLastSamples) {
    Residency residency(4);
    residency.add(sample(1, {on("GR0", 0, 9)})); // this sample leaves the window
    for (std::optional<std::uint32_t> who :
         {std::optional(5u), std::optional(6u), std::optional(6u), std::optional<std::uint32_t>()})
        residency.add(sample(2, {on("GR0", 0, who)}));
    EXPECT_EQ(residency.samples(), 4u);
    const auto told = residency.of("GR0");
    ASSERT_TRUE(told);
    ASSERT_EQ(told->parts.size(), 2u);
    EXPECT_EQ(told->parts[0].who.id, 6u);
    EXPECT_DOUBLE_EQ(told->parts[0].part, 0.5);
    EXPECT_DOUBLE_EQ(told->parts[1].part, 0.25);
    EXPECT_EQ(told->busy, 0.75);
    const auto history = residency.history("GR0");
    ASSERT_EQ(history.size(), 4u);
    EXPECT_EQ(history[0]->who->id, 5u) << "the oldest";
    EXPECT_FALSE(history[3]->who);
}

TEST(Residency, DoesNotCountUnreadableSamples) {
    Residency residency(4);
    Sample bad = sample(1, {});
    bad.engines = error(nvdebug::ErrorCode::gone, "engines: gone");
    residency.add(bad);
    EXPECT_EQ(residency.samples(), 0u);
    EXPECT_TRUE(watch_json(bad, residency, period)["engines"].is_null());
    EXPECT_TRUE(watch_rows(watch_json(bad, residency, period)).empty());
    EXPECT_EQ(errors_of(bad).size(), 1u);
    auto silent = on("LCE0", 0, {});
    silent.status.reset();
    for (int n = 0; n < 3; ++n)
        residency.add(sample(2, {silent}));
    EXPECT_FALSE(residency.of("LCE0")) << "its register is not public";
    EXPECT_EQ(residency.history("LCE0"), std::vector<const Residency::Seen *>(3, nullptr));
}

TEST(WatchView, KeepsTheMostImportantColumnsOnANarrowScreen) {
    const Seen seen = three_tasks();
    WatchView view(ascii);
    const std::vector<std::string> order = {"ENGINE", "RUNLIST", "NOW",    "SHARE", "RESIDENT",
                                            "BUSY%",  "HISTORY", "STATUS", "NEXT"};
    std::size_t before = 0;
    for (std::size_t width = 10; width <= 220; ++width) {
        const std::string text = text_of(view, seen.shown(), {24, width});
        const std::string titles = line_of(text, "ENGINE");
        std::size_t count = 0;
        while (count < order.size() && has(titles, order[count]))
            ++count;
        for (std::size_t n = count; n < order.size(); ++n)
            EXPECT_FALSE(has(titles, order[n])) << width << ": " << titles;
        EXPECT_GE(count, before) << width;
        before = count;
        for (const std::string &line : texts(view.lines(seen.shown(), {24, width})))
            EXPECT_LE(line.size(), width) << line;
    }
    EXPECT_EQ(before, order.size());
}

TEST(WatchView, ShowsAllResidentsOn80Columns) {
    const Seen seen = three_tasks();
    WatchView view(ascii);
    const std::string text = text_of(view, seen.shown(), small);
    EXPECT_EQ(line_of(text, "GR0"), "GR0           0  TSG 7   [#######====+++]  # TSG 5 50%  "
                                    "= TSG 6 25%  + TSG 7 25%")
        << text;
    EXPECT_TRUE(has(line_of(text, "LCE0"), "idle")) << text;
    EXPECT_TRUE(has(text, "4 samples, one every 500 ms (2.0 s), live")) << text;
}

TEST(WatchView, CountsColumnsThatDoNotFit) {
    const Seen seen = three_tasks();
    WatchView view(ascii);
    const std::string narrow = text_of(view, seen.shown(), small);
    EXPECT_TRUE(has(narrow, "fold idle  4 columns do not fit\n")) << narrow;
    EXPECT_FALSE(has(text_of(view, seen.shown(), large), "not fit"));
    WatchedGpus still = seen.shown();
    still.still = true;
    still.source = "a capture";
    EXPECT_TRUE(has(text_of(view, still, small), "12:00:00Z  one sample, of a capture\n"));
}

/// The bar and the list begin with the same mark, even if another resident was on the engine more
/// often.
TEST(WatchView, HasOneOrderInBarAndList) {
    const Seen seen({{on("GR0", 0, 5)}, {on("GR0", 0, 9)}, {on("GR0", 0, 9)}, {on("GR0", 0, 9)}});
    WatchView view(ascii);
    const std::string row = line_of(text_of(view, seen.shown(), small), "GR0");
    EXPECT_TRUE(has(row, "[##")) << row;
    EXPECT_TRUE(has(row, "]  # TSG 5 25%  = TSG 9 75%")) << row;
}

TEST(WatchView, NamesTheProcessesOfTasks) {
    Seen seen({{on("GR0", 0, 5)}, {on("GR0", 0, 6)}, {on("GR0", 0, 5)}, {on("GR0", 0, 5)}});
    auto mine = channel(3), other = channel(4);
    mine.instance_place = {0x1000, nvdebug::Aperture::video};
    other.instance_place = {0x2000, nvdebug::Aperture::video};
    nvdebug::Owners owners;
    owners.processes = {{4711, "train", {}}, {4712, "serve", {}}};
    owners.channels = {{4711, 1, 1, {}, 1, mine.instance_place},
                       {4712, 2, 1, {}, 1, other.instance_place}};
    seen.last.owners.add(runlist(0, {tsg(5, {mine}), tsg(6, {other})}), owners);
    WatchView view(ascii);
    const std::string row = line_of(text_of(view, seen.shown(), large), "GR0");
    EXPECT_TRUE(has(row, "TSG 5   train[4711]  [")) << row;
    EXPECT_TRUE(has(row, "# TSG 5 train[4711] 75%  = TSG 6 serve[4712] 25%")) << row;
    for (std::size_t width = 10; width <= 220; ++width)
        for (const std::string &line : texts(view.lines(seen.shown(), {24, width})))
            EXPECT_LE(line.size(), width) << line;

    // A capture has a single sample, and a task counts as resident only from the second sample on.
    Seen still({{on("GR0", 0, 5)}});
    still.last.owners = seen.last.owners;
    const std::string narrow = line_of(text_of(view, still.shown(), small), "GR0");
    EXPECT_TRUE(has(narrow, "TSG 5   train[4711]")) << narrow;
}

TEST(WatchView, ShowsAHistoryIfThereIsRoom) {
    const Seen seen = three_tasks();
    WatchView view(ascii);
    const std::string text = text_of(view, seen.shown(), large);
    EXPECT_TRUE(has(line_of(text, "GR0"), "  #=#+  ")) << text;
    EXPECT_TRUE(has(line_of(text, "LCE0"), "  ....  ")) << text;
    EXPECT_FALSE(has(text_of(view, seen.shown(), small), "#=#+"));
}

TEST(WatchView, LeavesOutNoEngineAndNoList) {
    const Seen seen = idle_gpu(40);
    WatchView view(ascii);
    const std::string folded = text_of(view, seen.shown(), small);
    for (const char *what : {" idle: LCE0, LCE1,", "LCE39", " empty: 0-39", "i unfold idle"})
        EXPECT_TRUE(has(folded, what)) << what << folded;
    view.handle('i');
    std::set<std::string> seen_lines;
    for (int page = 0; page < 6; ++page) {
        for (const std::string &line : texts(view.lines(seen.shown(), small)))
            seen_lines.insert(line);
        view.handle(key_page_down);
    }
    const auto is_row = [](const std::string &line) {
        return line.starts_with("LCE") && has(line, "idle");
    };
    EXPECT_EQ(std::ranges::count_if(seen_lines, is_row), 40);
    // If all engines fit, idle ones are folded only on request.
    WatchView tall(ascii);
    EXPECT_FALSE(has(text_of(tall, seen.shown(), {100, 80}), "idle:"));
    tall.handle('i');
    EXPECT_TRUE(has(text_of(tall, seen.shown(), {100, 80}), "idle:"));
}

TEST(WatchView, NamesEnginesThatShowNothing) {
    auto silent = on("LCE0", 0, {}), mute = on("LCE1", 1, {});
    silent.status.reset();
    mute.status = "unreadable";
    const Seen seen({{silent, mute}, {silent, mute}});
    WatchView view(ascii);
    EXPECT_TRUE(has(line_of(text_of(view, seen.shown(), small), "LCE0"), "not public"));
    EXPECT_TRUE(has(line_of(text_of(view, seen.shown(), small), "LCE1"), "cannot be read"));
    view.handle('i');
    EXPECT_TRUE(has(text_of(view, seen.shown(), small), " not public on this chip: LCE0\n"));
    EXPECT_TRUE(has(line_of(text_of(view, seen.shown(), small), "LCE1"), "cannot be read"));
}

TEST(WatchView, Scrolls) {
    const Seen seen = idle_gpu(40);
    WatchView view(ascii);
    const auto first = [&] { return texts(view.lines(seen.shown(), small))[1]; };
    const std::string top = first();
    view.handle('i');
    EXPECT_EQ(top, "gpu0  TU102");
    view.handle(key_up);
    EXPECT_EQ(first(), top) << "there is nothing above";
    view.handle(key_down);
    EXPECT_TRUE(first().starts_with("ENGINE"));
    view.handle(key_page_down);
    EXPECT_TRUE(first().starts_with("LCE21 ")) << first();
    view.handle(key_end);
    const std::vector<std::string> bottom = texts(view.lines(seen.shown(), small));
    EXPECT_TRUE(bottom[22].starts_with("     39 ")) << bottom[22];
    EXPECT_TRUE(has(bottom[23], "arrows 63-84 of 84")) << bottom[23];
    view.handle(key_down);
    EXPECT_EQ(texts(view.lines(seen.shown(), small)), bottom) << "there is nothing below";
    view.handle(key_home);
    EXPECT_EQ(first(), top);
}

TEST(WatchView, ContinuesManyResidentsBelow) {
    std::vector<std::vector<nvdebug::EngineState>> samples;
    for (std::uint32_t tsg = 100; tsg < 120; ++tsg)
        samples.push_back({on("GR0", 0, tsg)});
    const Seen seen(samples);
    WatchView view(ascii);
    const std::string text = text_of(view, seen.shown(), small);
    EXPECT_TRUE(has(text, "and 11 more")) << text;
    view.handle('a');
    const std::string all = text_of(view, seen.shown(), small);
    EXPECT_FALSE(has(all, "more")) << all;
    for (std::uint32_t tsg = 100; tsg < 120; ++tsg)
        EXPECT_TRUE(has(all, " TSG " + std::to_string(tsg) + " 5%")) << tsg;
}

TEST(WatchView, SortsPausesAndHelps) {
    const Seen seen({{on("SEC0", 0, {}), on("GR0", 0, {}), on("LCE2", 1, 5)},
                     {on("SEC0", 0, {}), on("GR0", 0, {}), on("LCE2", 1, 5)}});
    WatchView view(ascii);
    const auto text = [&] { return text_of(view, seen.shown(), small); };
    EXPECT_LT(text().find("SEC0 "), text().find("GR0 "));
    view.handle('s');
    EXPECT_LT(text().find("LCE2 "), text().find("SEC0 "));
    view.handle('s');
    EXPECT_LT(text().find("GR0 "), text().find("LCE2 "));
    EXPECT_LT(text().find("LCE2 "), text().find("SEC0 "));
    view.handle(' ');
    EXPECT_TRUE(view.paused());
    EXPECT_TRUE(has(text(), "PAUSED"));
    for (int key : {'h', '?'}) {
        view.handle(key);
        EXPECT_TRUE(has(text(), "so does Ctrl-C") && !has(text(), "LCE2")) << text();
        view.handle('h');
    }
    EXPECT_TRUE(view.handle('q'));
}

TEST(WatchView, HasABlockForEachGpu) {
    const Seen one = three_tasks(), other({{on("GR0", 0, 80)}, {on("GR0", 0, 80)}});
    const WatchedGpus shown{{one.as("gpu0  TU102"), other.as("gpu1  GA100")}, "live", period};
    WatchView view(ascii);
    const std::vector<std::string> lines = texts(view.lines(shown, small));
    const auto at = [&](const std::string &start) {
        return std::ranges::find_if(
            lines, [&](const std::string &line) { return line.starts_with(start); });
    };
    const auto second = at("gpu1");
    ASSERT_NE(second, lines.end());
    EXPECT_LT(at("gpu0"), second);
    EXPECT_EQ(second[1], at("gpu0")[1]) << "the same columns";
    EXPECT_TRUE(has(second[2], "TSG 80 100%")) << second[2];
}

TEST(WatchView, FitsAnyScreen) {
    const Seen seen = three_tasks();
    WatchView view(ascii);
    for (std::size_t rows = 1; rows < 30; ++rows)
        for (std::size_t columns : {1u, 2u, 5u, 20u, 80u}) {
            const auto lines = texts(view.lines(seen.shown(), {rows, columns}));
            EXPECT_EQ(lines.size(), rows);
            EXPECT_EQ(lines.back().substr(0, 1), "q");
            for (const std::string &line : lines)
                EXPECT_LE(line.size(), columns);
        }
}

TEST(Marks, StayIfTheRankChanges) {
    std::vector<std::vector<nvdebug::EngineState>> samples;
    for (std::uint32_t tsg : {8, 3, 3})
        samples.push_back({on("GR0", 0, tsg)});
    WatchView view(ascii);
    EXPECT_TRUE(has(text_of(view, Seen(samples).shown(), small), "# TSG 3 67%  = TSG 8 33%"));
    for (int n = 0; n < 3; ++n)
        samples.push_back({on("GR0", 0, 8)});
    EXPECT_TRUE(has(text_of(view, Seen(samples).shown(), small), "# TSG 3 33%  = TSG 8 67%"));
}

TEST(RowWriter, HasOneHeaderAndColumnsThatOnlyGrow) {
    RowWriter writer({{"engine", "current"}, false, true, false});
    const Json wide = {{{"engine", "NVDEC10"}, {"current", "tsg:7"}}};
    const Json narrow = {{{"engine", "GR0"}, {"current", nullptr}}};
    const std::string first = writer.text(wide), second = writer.text(narrow);
    EXPECT_EQ(first.substr(0, first.find('\n')), "ENGINE   CURRENT");
    EXPECT_EQ(second, "GR0      -\n");
}
