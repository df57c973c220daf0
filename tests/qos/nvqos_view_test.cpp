// SPDX-License-Identifier: MIT OR GPL-2.0
// Tables and the view in place fit a terminal.
#include "tools/nvqos/display.hpp"
#include "tools/nvqos/goals.hpp"
#include "tools/nvqos/report.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace nvqos;
namespace live = nvdebug::live;

constexpr std::array<Column, 4> some_columns = {
    {{"WHO", true, 0}, {"LITTLE", false, 1}, {"MORE", false, 2}, {"MUCH", true, 0}}};
const std::vector<Row> some_rows = {{"a", "1", "22", "yes"},
                                    {"ein-langer-N\u00e4me", "333", "4444", "no"}};

std::size_t widest(const Table &table) {
    std::size_t widest = 0;
    for (const std::string &line : table.lines)
        widest = std::max(widest, live::width_of(line));
    return widest;
}

TEST(Tables, HaveAllColumnsWithoutATerminal) {
    const Table table = fitted(some_columns, some_rows, std::nullopt);
    EXPECT_EQ(table.note, "");
    ASSERT_EQ(table.lines.size(), 3U);
    EXPECT_EQ(table.lines[0], "WHO              LITTLE  MORE  MUCH");
    EXPECT_EQ(table.lines[2], "ein-langer-N\u00e4me     333  4444  no");
}

TEST(Tables, FitEachWidth) {
    const std::size_t all = widest(fitted(some_columns, some_rows, std::nullopt));
    for (std::size_t width = 20; width < all + 3; width++) {
        const Table table = fitted(some_columns, some_rows, width);
        EXPECT_LE(widest(table), width) << width;
        EXPECT_EQ(table.note.empty(), width >= all) << width;
        EXPECT_NE(table.lines[0].find("WHO"), std::string::npos);
        EXPECT_NE(table.lines[0].find("MUCH"), std::string::npos);
    }
    EXPECT_EQ(fitted(some_columns, some_rows, all - 1).note.find("MORE"), std::string::npos)
        << "the least important one goes first";
    EXPECT_NE(fitted(some_columns, some_rows, 20).lines[2].find("\u2026"), std::string::npos);
    EXPECT_FALSE(fitted(some_columns, some_rows, 1).lines.empty());
}

/// A view has as many lines as the screen, no line is wider, and each message is shown from its
/// start.
TEST(Views, FitEachScreen) {
    Report report{0, {}, {}, 0};
    for (int n = 0; n < 30; n++)
        report.tenants.push_back(
            {"container:" + std::to_string(n), *parse_goal("share:2%"), {}, 0, {}, 1, 1, 0});
    const Shown shown{"2026-11-25T14:02:11Z  rollover",
                      {epoch_json(report, {}, "", 0)},
                      {"gpu1: left out since 2026-11-25T14:02:11Z: the driver does not answer"}};
    for (const live::Size size : {live::Size{24, 80}, {10, 40}, {50, 200}, {3, 20}, {1, 1}}) {
        LiveView view;
        for (const int key : {0, int(live::key_end), int('h'), int('h'), int(live::key_page_up)}) {
            EXPECT_FALSE(view.handle(key));
            const auto lines = view.lines(shown, {"a message of some words"}, size);
            EXPECT_LE(lines.size(), size.rows);
            for (const live::ViewLine &line : lines)
                EXPECT_LE(live::width_of(line), size.columns);
        }
    }
    LiveView view;
    EXPECT_TRUE(view.handle('q'));
    EXPECT_EQ(text_of(shown, std::nullopt).find("have no room"), std::string::npos);
    const std::string text = text_of(shown, 40);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(end - begin, 44U) << text.substr(begin, end - begin);
        begin = end + 1;
    }
}

TEST(Notes, HaveTheTimesOfAnEnginesRequests) {
    Report report{0, {}, {}, 0};
    TenantReport engine{.name = "engine", .goal = *parse_goal("ttft:200ms,tpot:10ms@95")};
    const auto notes = [&] {
        report.tenants = {engine};
        return notes_on({{0, report}}, {});
    };
    EXPECT_TRUE(notes().empty()) << "there are no marks yet";
    engine.engine = EngineTimes{.requests = 3, .ttft = 182 * qos::ms};
    using Texts = std::vector<std::string>;
    EXPECT_EQ(notes(), Texts{"engine: TTFT 182 ms of 200 ms (99 %), TPOT - of 10.0 ms (95 %), "
                             "3 requests in the last minute"});
    engine.goal = *parse_goal("tpot:10ms@95");
    engine.engine = EngineTimes{.requests = 1, .tpot = 7800 * qos::us};
    EXPECT_EQ(notes(), Texts{"engine: TPOT 7.80 ms of 10.0 ms (95 %), "
                             "1 request in the last minute"});
}

TEST(Views, ShowPodsThatHaveNames) {
    Report report{0, {}, {}, 0};
    report.tenants.push_back({"serve", *parse_goal("share:2%"), {}, 0, {}, 1, 1, 0});
    report.tenants.push_back({"others", {}, {}, 0, {}, 0, 0, 0});
    const auto text = [&] {
        return text_of({"", {epoch_json(report, {}, "", 0)}, {}}, std::nullopt);
    };
    auto &containers = report.tenants[0].containers;
    containers = {{{.container = "c1", .pod = "p1"}, 1, {}}};
    EXPECT_EQ(text().find("POD"), std::string::npos) << "no name is known";
    using nvdebug::base::PodName;
    containers[0].name = PodName{"team-a", "vllm-0", "server"};
    EXPECT_NE(text().find("  POD\n"), std::string::npos) << text();
    EXPECT_NE(text().find("  team-a/vllm-0\n"), std::string::npos) << text();
    EXPECT_NE(text().find("  -\n"), std::string::npos) << "others are in no pod";
    containers.push_back(
        {{.container = "c2", .pod = "p1"}, 1, PodName{"team-a", "vllm-0", "side"}});
    EXPECT_NE(text().find("  team-a/vllm-0\n"), std::string::npos) << "it is the same pod";
    containers.push_back({{.container = "c3", .pod = "p2"}, 1, PodName{"team-a", "vllm-1", "x"}});
    EXPECT_NE(text().find("  team-a/vllm-0 and 1 more\n"), std::string::npos) << text();
}

} // namespace
