// SPDX-License-Identifier: MIT OR GPL-2.0
// Jobs on several GPUs in the summary of a recording, in its forms, and in the view of `top`.
#include "cli/page.hpp"
#include "lib/recording/file.hpp"
#include "live/top_view.hpp"
#include "recording/chosen.hpp"
#include "recording/forms.hpp"
#include "recording/summary.hpp"
#include "recording/totals.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <tuple>

namespace nvdebugctl {
namespace {

constexpr std::uint64_t a_ms = 1'000'000, a_second = 1'000 * a_ms;
const std::array graphics_of = {Lane{0, "GR0", Lane::Means::switches},
                                Lane{1, "GR0", Lane::Means::switches}};
/// The times of the GPUs' clocks at 100 s of CLOCK_MONOTONIC.
constexpr std::array begin_of = {5'000 * a_second, 77 * a_second};

RecordedProcess rank_of_job(std::uint32_t pid, std::uint32_t launcher) {
    return {pid, "train", "/user.slice", std::nullopt, {}, 1, 100, launcher};
}

/// Replays two jobs of two ranks on GPUs 0 and 1. The turns of job A overlap for a half, with a skew
/// of 5 ms. The turns of job B overlap as a whole. The clock of GPU 1 gains 100 us in a second.
void replay_two_jobs(Sink &sink, bool has_clocks = true) {
    sink.head({"2026-11-23T02:00:00.000Z", "driver", 0, {{0, "GH100", {}}, {1, "GH100", {}}}});
    const auto read = [&](std::uint64_t after) {
        for (const std::uint32_t gpu : {0U, 1U})
            if (has_clocks)
                sink.clock(gpu, {begin_of[gpu] + after + gpu * after / 10'000,
                                 100 * a_second + after, 1, 100 * a_second + after, 10});
    };
    read(0);
    const std::array processes = {rank_of_job(10, 1), rank_of_job(11, 1), rank_of_job(20, 2),
                                  rank_of_job(21, 2)};
    for (const std::uint32_t n : {0U, 1U, 2U, 3U})
        sink.process(n % 2, processes[n]);
    const auto turn = [&](std::uint32_t gpu, std::size_t n, std::uint64_t from, std::uint64_t to) {
        const auto at = [&](std::uint64_t after) {
            return begin_of[gpu] + after + gpu * after / 10'000;
        };
        sink.turn(graphics_of[gpu],
                  {{.pid = processes[n].pid, .started = 100, .context = processes[n].pid},
                   at(from),
                   at(to),
                   true,
                   {}},
                  &processes[n]);
    };
    for (std::uint64_t second = 0; second < 100; second++) {
        const std::uint64_t at = second * a_second;
        turn(0, 0, at, at + 10 * a_ms);
        turn(1, 1, at + 5 * a_ms, at + 15 * a_ms);
        turn(0, 2, at + 20 * a_ms, at + 30 * a_ms);
        turn(1, 3, at + 20 * a_ms, at + 30 * a_ms);
    }
    read(100 * a_second);
    for (const Lane &lane : graphics_of)
        sink.end(lane, {begin_of[lane.gpu], begin_of[lane.gpu] + 100 * a_second});
}

Json summary_of_two_jobs(bool has_clocks = true) {
    Totals totals;
    replay_two_jobs(totals, has_clocks);
    return totals.summary(std::nullopt);
}

TEST(JobsInSummary, HaveTogetherAndSkew) {
    const Json summary = summary_of_two_jobs();
    ASSERT_EQ(summary["jobs"].size(), 2U) << summary;
    const Json &first = summary["jobs"][0], &second = summary["jobs"][1];
    EXPECT_EQ(first["name"], "train[10] (2 processes)");
    EXPECT_EQ(first["gpus"], Json::array({0, 1}));
    EXPECT_EQ(first["processes"], Json::parse(R"([{"gpu":0,"pid":10},{"gpu":1,"pid":11}])"));
    EXPECT_NEAR(first["together_percent"].get<double>(), 50, 0.01);
    EXPECT_EQ(first["starts"], 100);
    EXPECT_NEAR(first["skew_median_us"].get<double>(), 5'000, 20) << "lengths are right to 0.4 %";
    EXPECT_NEAR(first["skew_max_us"].get<double>(), 5'000, 2)
        << "by the first readings alone it is 15 ms at the end";
    EXPECT_NEAR(second["together_percent"].get<double>(), 100, 0.02);
    EXPECT_LT(second["skew_max_us"].get<double>(), 3);
    for (const Json &engine : summary["engines"])
        for (const Json &holder : engine["holders"])
            EXPECT_EQ(holder["together_percent"],
                      (holder["pid"] < 20 ? first : second)["together_percent"]);
}

TEST(JobsInSummary, AreUnknownWithoutClocks) {
    const Json summary = summary_of_two_jobs(false);
    ASSERT_EQ(summary["jobs"].size(), 2U);
    for (const char *const key : {"together_percent", "starts", "skew_median_us", "skew_max_us"})
        EXPECT_TRUE(summary["jobs"][0][key].is_null()) << key;
}

TEST(JobsInSummary, AreCutToTheChosenProcesses) {
    nvdebug::TaskSelection selection;
    Sink nowhere;
    for (const auto &[command, jobs] : {std::pair("train", 2U), {"serve", 0U}}) {
        selection.command = command;
        Chosen chosen(selection, nowhere);
        replay_two_jobs(chosen);
        EXPECT_EQ(chosen.cut(summary_of_two_jobs())["jobs"].size(), jobs) << command;
    }
}

TEST(JobsInSummary, AreTheSameFromAFile) {
    const auto lines = make_ndjson();
    replay_two_jobs(*lines);
    const auto path = std::filesystem::path(testing::TempDir()) /
                      ("together-" + std::to_string(::getpid()) + ".ndjson");
    std::ofstream(path) << lines->text();
    Totals totals;
    recording::RecordedFile recorded;
    const auto whole = recorded.replay(path.string(), totals);
    std::filesystem::remove(path);
    ASSERT_TRUE(whole) << whole.error().sentence;
    EXPECT_EQ(totals.summary(std::nullopt)["jobs"], summary_of_two_jobs()["jobs"]);
}

TEST(JobsInSummary, HaveAColumnOnlyIfThereAreSome) {
    Json summary = summary_of_two_jobs();
    const auto shown = [&] {
        Page page(false);
        show_summary(summary, page);
        return page.text();
    };
    EXPECT_NE(shown().find("TOGETHER"), std::string::npos) << shown();
    EXPECT_NE(shown().find("jobs on several GPUs"), std::string::npos);
    summary["jobs"] = Json::array();
    for (Json &engine : summary["engines"])
        for (Json &holder : engine["holders"])
            holder["together_percent"] = nullptr;
    EXPECT_EQ(shown().find("TOGETHER"), std::string::npos) << shown();
    EXPECT_EQ(shown().find("jobs on several GPUs"), std::string::npos);
}

TEST(TopView, ShowsTogetherWhileThereIsAJobOnSeveralGpus) {
    Json summary = summary_of_two_jobs();
    const auto header = [&](std::size_t columns) {
        TopView view;
        std::string text;
        for (const ViewLine &line :
             view.lines(summary, {}, std::chrono::milliseconds(1000), {20, columns}))
            for (const auto &piece : line)
                if (piece.text.find("WHO") != std::string::npos)
                    text += piece.text;
        return text;
    };
    EXPECT_NE(header(120).find("SHARE  TOGETHER  TURNS"), std::string::npos) << header(120);
    EXPECT_EQ(header(30).find("TOGETHER"), std::string::npos) << "what does not fit is left out";
    for (Json &engine : summary["engines"])
        for (Json &holder : engine["holders"])
            holder["together_percent"] = nullptr;
    EXPECT_EQ(header(120).find("TOGETHER"), std::string::npos) << header(120);
}

TEST(CsvOfARecording, HasBothClocksOfEachGpu) {
    const auto table = make_csv();
    replay_two_jobs(*table);
    EXPECT_NE(table->text().find("\nclock,0,,0,,,,,,,,,,100000000000\n"), std::string::npos);
    EXPECT_NE(table->text().find("\nclock,1,,100010000000,,,,,,,,,,200000000000\n"),
              std::string::npos);
}

} // namespace
} // namespace nvdebugctl
