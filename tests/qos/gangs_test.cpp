// SPDX-License-Identifier: MIT OR GPL-2.0
// Windows for gangs: plans, levers and accounts, worked out by hand.
#include "lib/qos/gangs.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace qos {
namespace {

const WindowSettings usual_windows;

GangTenant gang_of(const std::string &name, const std::vector<std::uint32_t> &gpus,
                   const Goal &goal = {}) {
    return {.name = name, .gpus = gpus, .goal = goal};
}

Goal gang_share(Part percent) {
    return {.aim = Aim::share, .part = percent * point};
}

/// Returns the names of the holders of each row, by their order in the row.
std::vector<std::string> rows_by_name(std::span<const GangTenant> tenants, const WindowPlan &plan) {
    std::vector<std::string> rows;
    for (const Row &row : plan.rows) {
        std::string names;
        for (const std::size_t holder : row.holders)
            names += tenants[holder].name;
        rows.push_back(names);
    }
    return rows;
}

std::vector<Ns> lengths_in_ms(const WindowPlan &plan) {
    std::vector<Ns> lengths;
    for (const Row &row : plan.rows)
        lengths.push_back(row.length / ms);
    return lengths;
}

TEST(WindowGroups, GangAloneHasNoWindows) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {2}),
                                             gang_of("c", {2})};
    EXPECT_TRUE(window_groups(tenants).empty());
}

TEST(WindowGroups, GangWithACapHasWindowsAlone) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, {.cap = 30 * point})};
    ASSERT_EQ(window_groups(tenants).size(), 1U);
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    ASSERT_EQ(plan.rows.size(), 2U);
    EXPECT_TRUE(plan.rows[1].holders.empty());
    EXPECT_EQ(second / plan.length(), 6);
    EXPECT_LT(second % plan.length(), 6) << "every second has the same part";
    EXPECT_LE(plan.rows[0].length, scaled(plan.length(), 30 * point, whole));
    EXPECT_TRUE(lever_in(tenants, plan.rows[1], 0, 1, usual_windows).paused);
    EXPECT_FALSE(lever_in(tenants, plan.rows[0], 0, 1, usual_windows).paused);
}

TEST(WindowGroups, TenantsAreLinkedBySharedGpus) {
    const std::vector<GangTenant> tenants = {gang_of("d", {2, 3}), gang_of("b", {1}),
                                             gang_of("a", {0, 1}), gang_of("c", {4}),
                                             gang_of("e", {3, 4})};
    const std::vector<std::vector<std::size_t>> groups = {{2, 1}, {3, 0, 4}};
    EXPECT_EQ(window_groups(tenants), groups);
}

TEST(WindowPlan, TwoGangsHaveWindowsOfTheSameLength) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0, 1})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 7 * ms);
    EXPECT_EQ(rows_by_name(tenants, plan), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(lengths_in_ms(plan), (std::vector<Ns>{50, 50}));
    EXPECT_EQ(plan.begin, 7 * ms);
}

TEST(WindowPlan, WindowsOnManyGpusAreLonger) {
    EXPECT_EQ(shortest_window(2, usual_windows), 50 * ms);
    EXPECT_EQ(shortest_window(16, usual_windows), 96 * ms);
}

TEST(WindowPlan, LengthsAreInProportionToSharesAndWeights) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, gang_share(60)),
                                             gang_of("b", {0, 1}, {.weight = 3}),
                                             gang_of("c", {0, 1}, {.weight = 1})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    EXPECT_EQ(lengths_in_ms(plan), (std::vector<Ns>{300, 150, 50}));
}

TEST(WindowPlan, ManyGangsHaveAWindowEach) {
    std::vector<GangTenant> tenants;
    for (int n = 0; n < 32; n++)
        tenants.push_back(gang_of(std::to_string(n), {0, 1}));
    EXPECT_EQ(lengths_in_ms(plan_windows(tenants, usual_windows, 0)), std::vector<Ns>(32, 50));
}

TEST(WindowPlan, SharesAloneDivideTheRestInProportion) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, gang_share(60)),
                                             gang_of("b", {0, 1}, gang_share(30))};
    EXPECT_EQ(lengths_in_ms(plan_windows(tenants, usual_windows, 0)), (std::vector<Ns>{100, 50}));
}

TEST(WindowPlan, RowsHaveGangsThatDoNotOverlap) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0, 1, 2, 3}),
                                             gang_of("c", {2, 3}), gang_of("d", {3})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    // The last row has a hole, which `a` fills.
    EXPECT_EQ(rows_by_name(tenants, plan), (std::vector<std::string>{"b", "ac", "da"}));
}

TEST(WindowPlan, TriangleHasARowForEachGang) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {1, 2}),
                                             gang_of("c", {2, 0})};
    EXPECT_EQ(rows_by_name(tenants, plan_windows(tenants, usual_windows, 0)),
              (std::vector<std::string>{"a", "b", "c"}));
}

TEST(WindowPlan, CapIsNotLengthenedByGangsInTheSameRow) {
    const std::vector<GangTenant> tenants = {gang_of("d", {0, 1}, {.cap = 20 * point}),
                                             gang_of("b", {2, 3}), gang_of("c", {0, 1, 2, 3})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    EXPECT_LE(part_in_windows(plan, 0), 20 * point);
    EXPECT_GE(part_in_windows(plan, 0), 18 * point);
}

TEST(WindowPlan, OrderOfTenantsDoesNotMatter) {
    std::vector<GangTenant> tenants = {
        gang_of("a", {0, 1}, gang_share(30)), gang_of("b", {1, 2}), gang_of("c", {2, 0}),
        gang_of("d", {3, 2}, {.cap = 20 * point}), gang_of("e", {3})};
    const WindowPlan first = plan_windows(tenants, usual_windows, 0);
    const auto names = rows_by_name(tenants, first);
    do {
        const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
        ASSERT_EQ(rows_by_name(tenants, plan), names);
        ASSERT_EQ(lengths_in_ms(plan), lengths_in_ms(first));
    } while (std::ranges::next_permutation(tenants, {}, &GangTenant::name).found);
}

TEST(WindowPlan, CreditMakesTheNextWindowsLonger) {
    std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, gang_share(50)), gang_of("b", {0, 1})};
    tenants[0].account.owed[0] = 40 * ms;
    EXPECT_EQ(lengths_in_ms(plan_windows(tenants, usual_windows, 0)), (std::vector<Ns>{60, 50}));
}

TEST(WindowPlan, SmallPartIsSavedUpForAWholeWindow) {
    std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, gang_share(96)), gang_of("b", {0, 1})};
    EXPECT_EQ(rows_by_name(tenants, plan_windows(tenants, usual_windows, 0)),
              (std::vector<std::string>{"a"}));
    tenants[1].account.owed[0] = 40 * ms;
    EXPECT_EQ(lengths_in_ms(plan_windows(tenants, usual_windows, 0)), (std::vector<Ns>{480, 60}));
}

TEST(WindowPlan, IsRepeatedUntilThereIsAnother) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, gang_share(60)),
                                             gang_of("b", {0, 1}, gang_share(30))};
    const WindowPlan plan = plan_windows(tenants, usual_windows, ms);
    EXPECT_EQ(row_at(plan, ms), 0U);
    EXPECT_EQ(row_at(plan, 100 * ms), 0U);
    EXPECT_EQ(row_at(plan, 101 * ms), 1U);
    EXPECT_EQ(row_at(plan, 151 * ms), 0U);
    EXPECT_EQ(next_change(plan, ms), 101 * ms);
    EXPECT_EQ(next_change(plan, 101 * ms), 151 * ms);
    EXPECT_EQ(next_change(plan, 152 * ms), 251 * ms);
}

TEST(WindowLevers, HolderHasTheLongSliceOnAllOfItsGpus) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {1, 2})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    const auto lever = [&](std::size_t row, std::size_t tenant, std::uint32_t gpu) {
        return lever_in(tenants, plan.rows[row], tenant, gpu, usual_windows);
    };
    for (const std::uint32_t gpu : {0U, 1U})
        EXPECT_EQ(lever(0, 0, gpu), (WindowLever{400 * ms}));
    EXPECT_EQ(lever(0, 1, 1), (WindowLever{100 * us}));
    EXPECT_EQ(lever(0, 1, 2), (WindowLever{})) << "nobody needs that GPU in this row";
    EXPECT_EQ(lever(1, 0, 1), (WindowLever{100 * us}));
}

TEST(WindowLevers, OthersArePausedBesideAHolderThatGivesWayOften) {
    std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0, 1})};
    tenants[0].account.gives_way = usual_windows.much_giving_way + 1;
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    EXPECT_EQ(lever_in(tenants, plan.rows[0], 1, 0, usual_windows),
              (WindowLever{std::nullopt, true}));
    EXPECT_EQ(lever_in(tenants, plan.rows[1], 0, 0, usual_windows), (WindowLever{100 * us}));
}

TEST(WindowLevers, ServiceIsFirstOnAllOfItsGpus) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1, 2}), gang_of("b", {0, 1}),
                                             gang_of("s", {1, 2}, {.aim = Aim::latency})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    EXPECT_EQ(rows_by_name(tenants, plan), (std::vector<std::string>{"a", "b"}));
    for (const Row &row : plan.rows) {
        EXPECT_EQ(lever_in(tenants, row, 2, 1, usual_windows), (WindowLever{16 * ms}));
        EXPECT_EQ(lever_in(tenants, row, 0, 2, usual_windows), (WindowLever{100 * us}));
    }
    EXPECT_EQ(lever_in(tenants, plan.rows[1], 0, 1, usual_windows),
              (WindowLever{std::nullopt, true}));
    EXPECT_EQ(lever_in(tenants, plan.rows[1], 1, 1, usual_windows), (WindowLever{100 * us}));
    EXPECT_EQ(lever_in(tenants, plan.rows[1], 1, 0, usual_windows), (WindowLever{400 * ms}));
}

TEST(WindowAccount, MissingTimeIsOwed) {
    const std::vector<RankWindows> ranks = {{0, 48 * ms, 60 * ms, 48 * ms},
                                            {1, 45 * ms, 60 * ms, 45 * ms}};
    EXPECT_EQ(
        settled_windows(gang_share(50), {}, 50 * point, ranks, 100 * ms, usual_windows).credit(),
        5 * ms + 300 * us)
        << "turns hide a little time without work";
}

TEST(WindowAccount, RankBesidePausedTasksHidesMoreTimeWithoutWork) {
    const std::vector<RankWindows> ranks = {
        {.gpu = 0, .used = 50 * ms, .held = 50 * ms, .used_in = 50 * ms, .is_alone = true}};
    EXPECT_EQ(
        settled_windows(gang_share(50), {}, 50 * point, ranks, 100 * ms, usual_windows).credit(),
        1400 * us);
}

TEST(WindowAccount, RankThatIdlesIsOwedNothing) {
    // The second rank used less than half of its window: its peer is dead, or it idles.
    const std::vector<RankWindows> ranks = {{0, 51 * ms, 50 * ms, 50 * ms},
                                            {1, 9 * ms, 50 * ms, 9 * ms}};
    for (const Goal &goal : {gang_share(50), Goal()})
        EXPECT_LE(settled_windows(goal, {}, 50 * point, ranks, 100 * ms, usual_windows).credit(),
                  0);
    const std::vector<RankWindows> none = {ranks[1]};
    EXPECT_EQ(
        settled_windows(gang_share(50), {}, 50 * point, none, 100 * ms, usual_windows).credit(), 0);
}

TEST(WindowAccount, RankThatWaitedForAServiceIsOwedItsPart) {
    const std::vector<RankWindows> ranks = {
        {.gpu = 0, .used = 5 * ms, .held = 50 * ms, .used_in = 5 * ms, .taken = 42 * ms}};
    EXPECT_EQ(
        settled_windows(gang_share(50), {}, 50 * point, ranks, 100 * ms, usual_windows).credit(),
        45 * ms + 300 * us);
}

TEST(WindowAccount, PromiseIsMissedBeforeTheDebtHasItsBound) {
    const WindowAccount account = {.owed = {{0, 0}, {1, 300 * ms}}};
    EXPECT_TRUE(is_promise_missed(gang_share(50), account, 50 * point, 100 * ms, usual_windows));
    EXPECT_FALSE(is_promise_missed(gang_share(51), account, 51 * point, 100 * ms, usual_windows));
    EXPECT_FALSE(is_promise_missed({}, account, 50 * point, 100 * ms, usual_windows));
}

TEST(WindowAccount, DebtsHaveABound) {
    const std::vector<RankWindows> ranks = {{0, 0, 0, 0}};
    WindowAccount account;
    for (int n = 0; n < 100; n++)
        account =
            settled_windows(gang_share(50), account, 50 * point, ranks, 100 * ms, usual_windows);
    EXPECT_EQ(account.credit(), 8 * (50 * ms + 300 * us));
}

TEST(Together, IsTheTimeInWhichAllRanksHaveTheirGpus) {
    const std::vector<std::vector<TurnSpan>> ranks = {{{0, 10}, {20, 30}}, {{5, 25}}, {{8, 40}}};
    EXPECT_EQ(time_together(ranks), 2 + 5);
    EXPECT_EQ(together_of(ranks), scaled(3 * 7, whole, 20 + 20 + 32));
    EXPECT_EQ(together_of(std::vector<std::vector<TurnSpan>>(2)), std::nullopt);
    EXPECT_EQ(time_together(std::vector<std::vector<TurnSpan>>{{{0, 10}}, {{15, 20}}}), 0);
}

TenantProgress progress_in_a_second(Ns used, Part together, std::int64_t gave_way) {
    return {.time = second, .used = used, .together_part = together, .gave_way = gave_way};
}

TEST(WindowNeed, GangsThatRunTogetherNeedNoWindows) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0, 1})};
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    std::vector<TenantProgress> seen(2, progress_in_a_second(480 * ms, 65 * point, 0));
    EXPECT_EQ(need_for_windows(tenants, seen, plan), WindowNeed::none);
    seen[1].together_part--;
    EXPECT_EQ(need_for_windows(tenants, seen, plan), WindowNeed::clear);
}

TEST(WindowNeed, TaskOnOneGpuNeedsNoWindows) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0})};
    const std::vector<TenantProgress> seen = {progress_in_a_second(480 * ms, 90 * point, 0),
                                              progress_in_a_second(480 * ms, 0, 0)};
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::none);
}

TEST(WindowNeed, TriangleWouldLoseByWindows) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {1, 2}),
                                             gang_of("c", {2, 0})};
    const std::vector<TenantProgress> seen(3, progress_in_a_second(480 * ms, 40 * point, 0));
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::harmful);
}

TEST(WindowNeed, OneWindowForAllIsNotNeeded) {
    std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, {.aim = Aim::latency}),
                                       gang_of("b", {0}), gang_of("c", {1})};
    std::vector<TenantProgress> seen(3, progress_in_a_second(100 * ms, 0, 0));
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::apart);
    tenants.push_back(gang_of("d", {1}));
    seen.push_back(seen.front());
    EXPECT_NE(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::apart);
}

TEST(WindowNeed, GangWithACapOrBeforeSeveralOthersNeedsWindows) {
    std::vector<GangTenant> tenants = {gang_of("a", {0, 1}, {.cap = 20 * point})};
    std::vector<TenantProgress> seen = {progress_in_a_second(200 * ms, whole, 0)};
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::clear);
    tenants = {gang_of("a", {0, 1}, {.aim = Aim::latency}), gang_of("b", {0, 1})};
    seen[0].waited = 500 * ms;
    seen.push_back(seen.front());
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::apart);
    tenants.push_back(gang_of("c", {0, 1}));
    seen.push_back(seen.front());
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::clear);
}

TEST(WindowNeed, GoalsForTimeslicesBarWindows) {
    const std::vector<GangTenant> tenants = {
        gang_of("a", {0, 1}, {.aim = Aim::timeslice, .slice = ms}), gang_of("b", {0, 1})};
    const std::vector<TenantProgress> seen(2, progress_in_a_second(480 * ms, 0, 0));
    EXPECT_EQ(need_for_windows(tenants, seen, plan_windows(tenants, usual_windows, 0)),
              WindowNeed::barred);
}

TEST(WindowNeed, TaskThatThinksBesideAServiceWouldLoseByItsPart) {
    const std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0, 1}),
                                             gang_of("s", {0, 1}, {.aim = Aim::latency}),
                                             gang_of("t", {0})};
    std::vector<TenantProgress> seen(4, progress_in_a_second(250 * ms, 30 * point, 0));
    for (TenantProgress &one : seen)
        one.waited = 650 * ms;
    const WindowPlan plan = plan_windows(tenants, usual_windows, 0);
    ASSERT_EQ(part_in_windows(plan, 3), part_in_windows(plan, 0));
    EXPECT_EQ(need_for_windows(tenants, seen, plan), WindowNeed::clear);
    seen[3].waited = 550 * ms;
    EXPECT_EQ(need_for_windows(tenants, seen, plan), WindowNeed::harmful);
    // Without a service it has the GPU in the windows of others, too, and a trial shows how much.
    const std::vector<GangTenant> without = {tenants[0], tenants[1], tenants[3]};
    const std::vector<TenantProgress> seen_without = {seen[0], seen[1], seen[3]};
    EXPECT_EQ(need_for_windows(without, seen_without, plan_windows(without, usual_windows, 0)),
              WindowNeed::clear);
}

/// The progress of two gangs in a second without windows, and in a trial of a second after it.
struct TrialOfTwo {
    std::vector<GangTenant> tenants = {gang_of("a", {0, 1}), gang_of("b", {0, 1})};
    std::vector<TenantProgress> before = std::vector(2, progress_in_a_second(300 * ms, 0, 100)),
                                now = before;

    bool is_kept() const { return do_windows_help(tenants, before, now); }
};

TEST(WindowTrial, EndsWindowsThatSlowAllDownInTheMean) {
    TrialOfTwo trial;
    trial.now[0].gave_way = 80;
    EXPECT_TRUE(trial.is_kept());
    trial.now[0].gave_way = 79;
    EXPECT_FALSE(trial.is_kept());
    trial.now[1].gave_way = 101;
    EXPECT_TRUE(trial.is_kept());
    for (TenantProgress &one : trial.now)
        one = {.time = 2 * second, .used = 600 * ms, .gave_way = 179};
    EXPECT_FALSE(trial.is_kept()) << "rates are compared, whatever time they took";
    trial.now[0].gave_way = trial.now[1].gave_way = 180;
    EXPECT_TRUE(trial.is_kept());
}

TEST(WindowTrial, GainOfOneDoesNotHideTheLossOfAnother) {
    TrialOfTwo trial;
    trial.now[0].gave_way = 10'000;
    trial.now[1].gave_way = 60;
    EXPECT_TRUE(trial.is_kept());
    trial.now[1].gave_way = 59;
    EXPECT_FALSE(trial.is_kept());
    // A gain counts as a half at most: 1.5, 0.6 and 0.6 are 0.9 in the mean.
    trial.tenants.push_back(gang_of("c", {0, 1}));
    trial.before.push_back(trial.before[0]);
    trial.now = trial.before;
    trial.now[0].gave_way = 10'000;
    trial.now[1].gave_way = trial.now[2].gave_way = 60;
    EXPECT_TRUE(trial.is_kept());
    trial.now[0].gave_way = 149;
    EXPECT_FALSE(trial.is_kept());
    trial.now[0].gave_way = 10'000;
    trial.tenants.push_back(gang_of("d", {0, 1}));
    trial.before.push_back(trial.before[0]);
    trial.now.push_back(trial.now[1]);
    EXPECT_FALSE(trial.is_kept());
}

TEST(WindowTrial, TaskOfOneGpuKeepsItsTurnsAndItsTime) {
    TrialOfTwo trial;
    trial.tenants[1].gpus = {0};
    trial.now[0].gave_way = 200;
    trial.now[1].gave_way = 70;
    EXPECT_TRUE(trial.is_kept());
    trial.now[1].gave_way = 69;
    EXPECT_FALSE(trial.is_kept());
    trial.now[1].gave_way = trial.before[1].gave_way = 0; // its kernels are as long as timeslices
    trial.now[1].used = 240 * ms;
    EXPECT_TRUE(trial.is_kept());
    trial.now[1].used = 239 * ms;
    EXPECT_FALSE(trial.is_kept());
}

TEST(WindowTrial, TaskBesidePausedOnesKeepsTheTimeInWhichItDoesNotWait) {
    TrialOfTwo trial;
    trial.tenants[1].gpus = {0};
    trial.before[1].waited = 500 * ms;
    trial.now[1] = {.time = second, .used = 100 * ms, .waited = 600 * ms, .is_alone = true};
    EXPECT_TRUE(trial.is_kept());
    trial.now[1].waited++;
    EXPECT_FALSE(trial.is_kept());
}

TEST(WindowTrial, GainsCountOnlyOfGangsThatSeldomRanTogether) {
    TrialOfTwo trial;
    trial.now[0].gave_way = 10'000;
    trial.now[1].gave_way = 79;
    trial.before[0].together_part = 20 * point - 1;
    EXPECT_TRUE(trial.is_kept());
    trial.before[0].together_part++;
    EXPECT_FALSE(trial.is_kept());
    trial.now[1].gave_way = 80;
    EXPECT_TRUE(trial.is_kept());
}

TEST(WindowTrial, GangThatDidNotSpinCountsByItsTime) {
    TrialOfTwo trial;
    trial.before[0].together_part = 50 * point;
    trial.before[0].used = 790 * ms; // it gives way more than 125 times in a second of its own time
    trial.now[0] = {.time = 2 * second, .used = 1270 * ms, .gave_way = 1000};
    EXPECT_TRUE(trial.is_kept()) << "0.8 and 1 are 0.9 in the mean";
    trial.now[0].used = 1260 * ms;
    EXPECT_FALSE(trial.is_kept());
    trial.before[0].used = 800 * ms;
    EXPECT_TRUE(trial.is_kept());
}

TEST(WindowTrial, ShareOfATaskThatThinksIsKept) {
    TrialOfTwo trial;
    trial.tenants[1] = gang_of("b", {0}, gang_share(40));
    trial.now[1].used = 285 * ms;
    EXPECT_TRUE(trial.is_kept());
    trial.now[1].used = 284 * ms; // of the 300 ms that it has use for
    EXPECT_FALSE(trial.is_kept());
    trial.tenants[1].goal = gang_share(25);
    EXPECT_TRUE(trial.is_kept()) << "it has more than its share";
}

TEST(WindowTrial, TooFewTurnsAndTurnsThatGoOnWithoutWorkSayNothing) {
    TrialOfTwo trial;
    for (TenantProgress &one : trial.before)
        one.gave_way = 9;
    for (TenantProgress &one : trial.now)
        one.gave_way = 0;
    EXPECT_TRUE(trial.is_kept());
    trial = {};
    trial.now[1].gave_way = 0;
    EXPECT_FALSE(trial.is_kept());
    trial.now[1].is_alone = true;
    EXPECT_TRUE(trial.is_kept());
}

TEST(WindowTrial, FirstTurnsOfATenantThatHadAlmostNoneAreAGain) {
    TrialOfTwo trial;
    trial.before[0].gave_way = 1;
    trial.now[0].gave_way = 80;
    trial.now[1].gave_way = 65;
    EXPECT_TRUE(trial.is_kept());
}

TEST(Clashes, SharesOfATriangleAddUp) {
    const std::vector<GangTenant> tenants = {
        gang_of("a", {0, 1}, gang_share(40)), gang_of("b", {1, 2}, gang_share(40)),
        gang_of("c", {2, 0}, gang_share(40)), gang_of("d", {3, 0}, gang_share(10)),
        gang_of("e", {3}, gang_share(90))};
    EXPECT_EQ(heaviest_clash(tenants), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Clashes, TenantsOnTheSameGpusAddUpWithTheOthers) {
    std::vector<GangTenant> tenants;
    for (const char *name : {"f", "e", "d", "c", "b", "a"})
        tenants.push_back(gang_of(
            name, *name < 'c' ? std::vector<std::uint32_t>{1, 0} : std::vector<std::uint32_t>{0, 1},
            gang_share(10)));
    tenants.push_back(gang_of("g", {1, 2}, gang_share(20)));
    tenants.push_back(gang_of("h", {2}, gang_share(70)));
    EXPECT_EQ(heaviest_clash(tenants), (std::vector<std::size_t>{6, 7}));
    tenants.back().goal = gang_share(50);
    EXPECT_EQ(heaviest_clash(tenants), (std::vector<std::size_t>{5, 4, 3, 2, 1, 0, 6}));
}

TEST(Clashes, AreFoundAmongManyPairsThatDoNotClash) {
    // Each set of eight of sixteen GPUs that has the first one clashes with all others but with the
    // set of the rest. One of each pair is in the heaviest set.
    std::vector<GangTenant> tenants;
    for (std::uint32_t one = 1; one < 16; one++)
        for (std::uint32_t other = one + 1; other < 16 && tenants.size() < 60; other++) {
            std::vector<std::uint32_t> gpus = {0, one, other}, rest;
            for (std::uint32_t gpu = 1; gpu < 16; gpu++)
                if (gpu != one && gpu != other)
                    (gpus.size() < 8 ? gpus : rest).push_back(gpu);
            const std::string name = std::to_string(100 + tenants.size());
            tenants.push_back(gang_of(name + " first", gpus, gang_share(1)));
            tenants.push_back(gang_of(name + " rest", rest, gang_share(1)));
        }
    const auto heaviest = heaviest_clash(tenants);
    Part sum = 0;
    for (const std::size_t a : heaviest) {
        sum += tenants[a].goal.part;
        for (const std::size_t b : heaviest)
            EXPECT_TRUE(tenants[a].clashes_with(tenants[b]));
    }
    EXPECT_EQ(sum, 30 * point);
}

/// Returns the largest sum of parts in a set of tenants that clash pair by pair, by trying all sets.
Part heaviest_of_all_sets(std::span<const GangTenant> tenants) {
    Part most = 0;
    for (std::uint32_t set = 0; set < 1U << tenants.size(); set++) {
        Part sum = 0;
        bool all_clash = true;
        for (std::size_t a = 0; a < tenants.size(); a++) {
            if (!(set >> a & 1))
                continue;
            sum += tenants[a].goal.part;
            for (std::size_t b = 0; b < a; b++)
                all_clash = all_clash && (!(set >> b & 1) || tenants[a].clashes_with(tenants[b]));
        }
        most = all_clash ? std::max(most, sum) : most;
    }
    return most;
}

TEST(Clashes, HaveTheLargestSumOfAllSets) {
    std::minstd_rand random(1);
    for (int scenario = 0; scenario < 200; scenario++) {
        std::vector<GangTenant> tenants;
        for (char name = 'a'; name < 'j'; name++) {
            std::vector<std::uint32_t> gpus;
            for (std::uint32_t gpu = 0; gpu < 5; gpu++)
                if (random() % 3 == 0)
                    gpus.push_back(gpu);
            if (gpus.empty())
                gpus.push_back(0);
            tenants.push_back(gang_of(std::string(1, name), gpus,
                                      gang_share(1 + static_cast<Part>(random() % 60))));
        }
        Part sum = 0;
        for (const std::size_t n : heaviest_clash(tenants))
            sum += tenants[n].goal.part;
        EXPECT_EQ(sum, heaviest_of_all_sets(tenants)) << "scenario " << scenario;
    }
}

} // namespace
} // namespace qos
