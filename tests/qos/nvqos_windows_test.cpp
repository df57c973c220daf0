// SPDX-License-Identifier: MIT OR GPL-2.0
// Windows of gangs on one GPU: the levers of its tasks, and the turns for the conductor.
#include "kept.hpp"
#include "replay.hpp"

#include "tools/nvqos/keep/windows.hpp"
#include "tools/nvqos/report.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace served {
namespace {

using namespace qos;
using nvqos::WantedLever;

// --- levers and turns of windows ---

/// Adds a turn with a timeslice of 2 ms, by the same clock as the GPU's.
void add(nvqos::Windows &windows, Ns begin, Ns end, bool ends, Ns changed_at = 0) {
    windows.add({{0, 1, begin, end, ends}, 2 * ms, changed_at}, "a", begin, end);
}

bool gave_way(nvqos::Windows &windows) {
    const auto turns = windows.take_turns();
    EXPECT_FALSE(turns.empty());
    return !turns.empty() && turns.back().gave_way;
}

TEST(WindowsOnAGpu, KeepALeverUntilAnotherOneComes) {
    nvqos::Windows windows;
    EXPECT_FALSE(windows.decide());
    windows.begin({{"a", {3 * ms, false}}, {"b", {std::nullopt, true}}});
    EXPECT_TRUE(windows.decide());
    windows.put(std::vector<TenantLever>{{"a", {400 * ms, false}}});
    EXPECT_EQ(windows.lever("a"), (WantedLever{400 * ms, false}));
    EXPECT_EQ(windows.lever("b"), (WantedLever{std::nullopt, true})) << "no lever has come for it";
    EXPECT_EQ(windows.lever("c"), std::nullopt);
    windows.put(std::vector<TenantLever>{{"a", {std::nullopt, true}}});
    EXPECT_EQ(windows.lever("a"), (WantedLever{400 * ms, true})) << "a pause leaves the timeslice";
    windows.forget_others(std::vector<qos::TenantOnGpu>{{.name = "a"}});
    EXPECT_EQ(windows.lever("a"), (WantedLever{400 * ms, true}));
    EXPECT_EQ(windows.lever("b"), std::nullopt);
    windows.end();
    EXPECT_FALSE(windows.decide());
    EXPECT_EQ(windows.lever("a"), std::nullopt);
}

TEST(WindowsOnAGpu, SeeWhichTurnsGaveWay) {
    nvqos::Windows windows;
    add(windows, 10 * ms, 11 * ms, true);
    EXPECT_TRUE(gave_way(windows));
    add(windows, 20 * ms, 22 * ms, true);
    EXPECT_FALSE(gave_way(windows)) << "its timeslice ended it";
    add(windows, 30 * ms, 31 * ms, false);
    EXPECT_FALSE(gave_way(windows)) << "it goes on";
    add(windows, 31 * ms, 32 * ms, true);
    EXPECT_FALSE(gave_way(windows)) << "it was as long as its timeslice, in two parts";
    add(windows, 40 * ms, 41 * ms, true, 40 * ms);
    EXPECT_FALSE(gave_way(windows)) << "a change of levers may have ended it";
    add(windows, 50 * ms, 54 * ms, true, 50 * ms + 500 * us);
    EXPECT_FALSE(gave_way(windows));
    add(windows, 60 * ms, 65 * ms, true, 64 * ms - 2 * ms - 500 * us);
    EXPECT_FALSE(gave_way(windows)) << "the new timeslice was over";
}

TEST(WindowsOnAGpu, HaveTurnsThatDoNotOverlapAndAreNotOld) {
    nvqos::Windows windows;
    add(windows, 10 * ms, 11 * ms, true);
    windows.add({{0, 2, 0, 1 * ms, true}, 2 * ms, 0}, "b", 11 * ms - 5 * us, 12 * ms);
    auto turns = windows.take_turns();
    ASSERT_EQ(turns.size(), 2U);
    EXPECT_EQ(turns[1].begin, turns[0].end);
    EXPECT_EQ(turns[1].end, 12 * ms);
    for (Ns at = qos::second; at < 100 * qos::second; at += 10 * ms)
        add(windows, at, at + ms, true);
    turns = windows.take_turns();
    EXPECT_LE(turns.back().end - turns.front().begin, 6 * qos::second);
    EXPECT_GE(turns.back().end - turns.front().begin, 2 * qos::second);
}

TEST(GangBoard, LocksWithoutWakingWhoWaits) {
    nvqos::GangBoard board;
    std::atomic<int> looks = 0;
    bool is_over = false;
    std::thread waiting([&] {
        EXPECT_TRUE(board.wait(nvqos::GangBoard::Clock::now() + std::chrono::minutes(1), [&] {
            looks++;
            return is_over;
        }));
    });
    while (looks == 0)
        std::this_thread::yield();
    for (int n = 0; n < 300; n++) {
        EXPECT_FALSE(board.locked([&] { return is_over; }));
        std::this_thread::yield();
    }
    board.change([&] { is_over = true; });
    waiting.join();
    EXPECT_LE(looks, 30) << "it looks again after a change, and may be woken for nothing";
}

// --- a GPU with windows for its tasks ---

class KeptWindows : public Kept {
  protected:
    void start_with_board(const std::vector<std::string> &words,
                          nvqos::GpuGoals::Options options = {}) {
        options.gangs = board;
        start(words, std::move(options));
        ASSERT_TRUE(gpu_goals);
        sim.set_bursts(0, simulated::always());
        sim.set_bursts(1, simulated::always());
        keep_until(sim.now() + 500 * ms);
    }
    void set(const std::vector<TenantLever> &levers) {
        const auto done = gpu_goals->set_windows(levers);
        ASSERT_TRUE(done) << done.error().sentence;
    }
    /// The window of the first task, for a second.
    void give_window() {
        set({{"557", {400 * ms, false}}});
        set({{"558", {100 * us, false}}});
        keep_until(sim.now() + qos::second);
    }
    std::vector<std::uint64_t> both_us() const {
        const auto all = timeslices_us();
        return {all[0], all[1]};
    }

    const std::shared_ptr<nvqos::GangBoard> board = std::make_shared<nvqos::GangBoard>();
};

TEST_F(KeptWindows, TimeslicesAreTheOrdersUntilWindowsEnd) {
    start_with_board({"557=share:30%", "558=best-effort"});
    const auto of_governor = both_us();
    set({{"557", {400 * ms, false}}});
    EXPECT_NEAR(static_cast<double>(both_us()[0]), 400'000, 4000);
    EXPECT_EQ(both_us()[1], of_governor[1]) << "the others are held back later";
    set({{"558", {100 * us, false}}});
    EXPECT_NEAR(static_cast<double>(both_us()[1]), 100, 2);
    const Ns used = sim.used(0), since = sim.now();
    keep_until(since + 2 * qos::second);
    EXPECT_GT(points(0, since, used), 95);
    EXPECT_NEAR(static_cast<double>(both_us()[0]), 400'000, 4000);
    ASSERT_TRUE(gpu_goals->end_windows());
    keep_until(sim.now() + 2 * qos::second);
    EXPECT_LT(both_us()[0], 10'000U);
}

/// Another program changes the timeslice, which a repeated request undoes. No order comes meanwhile.
TEST_F(KeptWindows, RequestsAreRepeated) {
    start_with_board({"557=share:30%", "558=best-effort"});
    give_window();
    for (const auto &[name, object] : kernel.others[first])
        if (object.object_class == driver_test::rm::class_tsg)
            kernel.set_timeslice(first, name, 777);
    EXPECT_NEAR(static_cast<double>(both_us()[0]), 777, 10);
    keep_until(sim.now() + 500 * ms);
    EXPECT_NEAR(static_cast<double>(both_us()[0]), 400'000, 4000);
}

/// The window of the first task took far more than its share, and the second one has to pay for it
/// if the same governor goes on.
TEST_F(KeptWindows, NewGovernorOwesNothing) {
    start_with_board({"557=share:50%", "558=best-effort"});
    set({{"558", {20 * ms, false}}});
    set({{"557", {100 * us, false}}});
    keep_until(sim.now() + 3 * qos::second);
    EXPECT_GT(reports.back().tenants[0].credit, 100 * ms);
    EXPECT_FALSE(reports.back().tenants[0].record.kept) << "it is judged by what it got";
    EXPECT_EQ(nvqos::kept(reports.back().tenants[0]), false);
    ASSERT_TRUE(gpu_goals->end_windows());
    const Ns used = sim.used(0), since = sim.now();
    keep_until(since + 300 * ms);
    EXPECT_LT(points(0, since, used), 60) << "debts of windows are not repaid";
    keep_until(since + 3 * qos::second);
    EXPECT_TRUE(reports.back().tenants[0].record.kept);
}

/// The governor takes a task that waits for longer than two rounds for one without work.
TEST_F(KeptWindows, ShareThatWaitsForItsWindowIsNotKept) {
    start_with_board({"557=share:50%", "558=best-effort"});
    set({{"558", {400 * ms, false}}});
    set({{"557", {100 * us, false}}});
    keep_until(sim.now() + 3 * qos::second);
    EXPECT_EQ(nvqos::kept(reports.back().tenants[0]), false);
    // A task without work wants nothing.
    sim.stop(0);
    sim.set_bursts(0, simulated::every(500 * ms, 50 * us));
    keep_until(sim.now() + 2 * qos::second);
    EXPECT_NE(nvqos::kept(reports.back().tenants[0]), false);
}

/// A window of 40 ms in each 100 ms: the second may begin anywhere in it.
TEST_F(KeptWindows, ShareThatHasItsWindowsIsKept) {
    start_with_board({"557=share:40%", "558=best-effort"}, {});
    set({{"557", {100 * us, false}}, {"558", {400 * ms, false}}});
    for (const Ns begin = sim.now(); sim.now() < begin + 4 * qos::second;) {
        set({{"557", {400 * ms, false}}});
        set({{"558", {100 * us, false}}});
        keep_until(sim.now() + 51 * ms);
        set({{"558", {400 * ms, false}}});
        set({{"557", {100 * us, false}}});
        keep_until(sim.now() + 76 * ms);
        if (sim.now() > begin + 1500 * ms) {
            EXPECT_EQ(nvqos::kept(reports.back().tenants[0]), true);
        }
    }
}

TEST_F(KeptWindows, ReportHasTheLeversInEffect) {
    start_with_board({"557=share:30%", "558=best-effort"});
    set({{"557", {400 * ms, false}}, {"558", {std::nullopt, true}}});
    keep_until(sim.now() + 300 * ms);
    EXPECT_EQ(reports.back().tenants[0].lever, (Lever{400 * ms, false}));
    EXPECT_TRUE(reports.back().tenants[1].lever.paused);
    ASSERT_TRUE(gpu_goals->end_windows());
    keep_until(sim.now() + 300 * ms);
    EXPECT_FALSE(reports.back().tenants[1].lever.paused);
    EXPECT_EQ(enabled(), all_on);
}

/// A request for one task is not repeated within a quarter of a second, if nothing changes.
TEST_F(KeptWindows, ReportHasTheCallsToTheDriver) {
    start_with_board({"557=best-effort", "558=best-effort"});
    give_window();
    const nvqos::Report before = reports.back();
    set({{"558", {400 * ms, false}}});
    set({{"557", {100 * us, false}}});
    keep_until(sim.now() + 210 * ms);
    const nvqos::Report &after = reports.back();
    EXPECT_GE(after.requests.count, before.requests.count + 2);
    EXPECT_LE(after.requests.count, before.requests.count + 4);
    EXPECT_GE(after.reads.count, before.reads.count + 2) << "one in each epoch";
    EXPECT_LE(after.reads.count, before.reads.count + 3);
}

/// Goals of best effort set no timeslices.
TEST_F(KeptWindows, FormerTimesliceIsBackWhereGoalsSetNone) {
    const auto before = timeslices_us();
    start_with_board({"557=best-effort", "558=best-effort"});
    EXPECT_EQ(timeslices_us(), before);
    give_window();
    EXPECT_NE(timeslices_us(), before);
    set({{"557", {std::nullopt, true}}});
    EXPECT_NEAR(static_cast<double>(both_us()[0]), 400'000, 4000) << "a pause leaves the timeslice";
    ASSERT_TRUE(gpu_goals->end_windows());
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(enabled(), all_on);
}

TEST_F(KeptWindows, EndOfTheProgramRestoresTasks) {
    const auto before = timeslices_us();
    start_with_board({"557=share:30%", "558=best-effort"});
    give_window();
    set({{"558", {std::nullopt, true}}});
    gpu_goals.reset();
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(enabled(), all_on);
    EXPECT_TRUE(board->tenants().first.at(0).empty()) << "nobody is left there";
}

/// The tenant is in no order yet.
TEST_F(KeptWindows, TenantThatComesHasTheShortestTimeslice) {
    start_with_board({"557=best-effort", "command:third=share:30%"});
    set({{"557", {400 * ms, false}}, {"others", {100 * us, false}}});
    add_third(600, simulated::always());
    keep_until(sim.now() + 500 * ms);
    EXPECT_NEAR(static_cast<double>(timeslices_us()[2]), 100, 2);
    const auto [tenants, version] = board->tenants();
    ASSERT_EQ(tenants.at(0).size(), 3U);
    EXPECT_EQ(tenants.at(0)[1].name, "command:third");
    EXPECT_TRUE(tenants.at(0)[1].is_gang);
    EXPECT_EQ(tenants.at(0)[2].name, "others");
    EXPECT_FALSE(tenants.at(0)[2].is_gang);
}

TEST_F(KeptWindows, GoalsMayChangeWhileTheyGoOn) {
    start_with_board({"557=share:30%", "558=best-effort"});
    give_window();
    nvqos::Goals other;
    ASSERT_TRUE(nvqos::add_word("558=share:20%,gang=off", other));
    ASSERT_TRUE(nvqos::add_word("557=share:60%", other));
    ASSERT_TRUE(gpu_goals->set_goals(other));
    EXPECT_NEAR(static_cast<double>(both_us()[0]), 400'000, 4000);
    EXPECT_NEAR(static_cast<double>(both_us()[1]), 100, 2);
    const auto [tenants, version] = board->tenants();
    ASSERT_EQ(tenants.at(0).size(), 2U);
    EXPECT_EQ(tenants.at(0)[0], (TenantOnGpu{"558", *nvqos::parse_goal("share:20%"), false}));
    keep_until(sim.now() + 500 * ms);
    ASSERT_TRUE(gpu_goals->end_windows());
    const Ns since = sim.now() + qos::second;
    keep_until(since);
    const Ns used = sim.used(0);
    keep_until(since + 2 * qos::second);
    EXPECT_GT(points(0, since, used), 59);
}

/// The turns have times of the clock of this machine, which begins at 0 here.
TEST_F(KeptWindows, TurnsAreByTheClockOfTheMachine) {
    start_with_board({"557=share:30%", "558=best-effort"});
    ASSERT_TRUE(gpu_goals->take_window_turns());
    const Ns since = sim.now();
    keep_until(since + qos::second);
    run_until(sim.now() + 5 * ms);
    const auto seen = gpu_goals->take_window_turns();
    ASSERT_TRUE(seen);
    std::map<std::string, Ns> used;
    Ns last = since - 30 * ms;
    for (const WindowTurn &turn : *seen) {
        EXPECT_GE(turn.begin, last);
        EXPECT_GE(turn.end, turn.begin);
        EXPECT_FALSE(turn.gave_way) << "all have work";
        last = turn.end;
        used[turn.tenant] += turn.end - turn.begin;
    }
    EXPECT_NEAR(static_cast<double>(last - sim.now()) / ms, 0, 10);
    EXPECT_NEAR(static_cast<double>(used["557"]) / qos::second, 0.3, 0.02);
    EXPECT_NEAR(static_cast<double>(used["558"]) / qos::second, 0.68, 0.02);
}

TEST_F(KeptWindows, TaskThatIdlesGivesWay) {
    start_with_board({"557=best-effort", "558=best-effort"});
    sim.stop(0);
    sim.set_bursts(0, simulated::every(20 * ms, ms));
    ASSERT_TRUE(gpu_goals->take_window_turns());
    keep_until(sim.now() + qos::second);
    const auto seen = gpu_goals->take_window_turns();
    ASSERT_TRUE(seen);
    const auto gave = [&](const std::string &tenant) {
        return std::ranges::count_if(
            *seen, [&](const WindowTurn &turn) { return turn.tenant == tenant && turn.gave_way; });
    };
    EXPECT_NEAR(static_cast<double>(gave("557")), 50, 5);
    EXPECT_LE(gave("558"), 1);
}

TEST_F(KeptWindows, DecisionsReplay) {
    const std::string path = testing::TempDir() + "nvqos_windows_decisions";
    nvqos::GpuGoals::Options options;
    auto file =
        nvqos::Decisions::open(path, [this](const std::string &text) { said.push_back(text); });
    ASSERT_TRUE(file) << file.error().sentence;
    options.decisions = *file;
    start_with_board({"557=share:30%", "558=cap:60%"}, options);
    give_window();
    set({{"558", {std::nullopt, true}}});
    keep_until(sim.now() + 500 * ms);
    ASSERT_TRUE(gpu_goals->end_windows());
    keep_until(sim.now() + qos::second);
    gpu_goals.reset();
    (*file)->finish();
    std::ifstream record(path);
    const std::string text{std::istreambuf_iterator<char>(record), {}};
    EXPECT_NE(text.find("\"begin\"", text.find("\"step\"")), text.npos) << "a new governor";
    std::istringstream lines(text);
    replay::Replay again;
    again.take(lines);
    EXPECT_GT(again.steps(), 20U);
    EXPECT_EQ(again.differences(), std::vector<std::string>{});
    ::unlink(path.c_str());
}

} // namespace
} // namespace served
