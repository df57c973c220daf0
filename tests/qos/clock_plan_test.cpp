// SPDX-License-Identifier: MIT OR GPL-2.0
// Windows by a clock that all nodes have: two nodes agree although each plans by itself.
#include "lib/qos/clock_plan.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace qos {
namespace {

const ClockSettings usual_clock;

GangTenant of_nodes(const std::string &name, const std::vector<std::uint32_t> &gpus,
                    const Goal &goal = {}) {
    return {.name = name, .gpus = gpus, .goal = goal, .is_on_other_nodes = true};
}

GangTenant of_one_node(const std::string &name, const std::vector<std::uint32_t> &gpus,
                       const Goal &goal = {}) {
    return {.name = name, .gpus = gpus, .goal = goal};
}

Goal part_of_time(Part percent) {
    return {.aim = Aim::share, .part = percent * point};
}

/// A node with a clock of its own, which begins to plan at some time.
struct Node {
    std::vector<GangTenant> tenants;
    Ns began = 0;
    ClockSettings settings = {};

    /// Returns the tenants of several nodes that have their windows.
    std::set<std::string> holders_at(Ns now) const {
        std::set<std::string> names;
        for (const auto &group : clock_groups(tenants)) {
            std::vector<GangTenant> members;
            for (const std::size_t n : group)
                members.push_back(tenants[n]);
            const WindowPlan plan = plan_by_clock(members, settings, began);
            for (const std::size_t holder : plan.rows[row_at(plan, now)].holders)
                if (members[holder].is_on_other_nodes)
                    names.insert(members[holder].name);
        }
        return names;
    }
};

constexpr Ns some_day = 1'790'000'000 * second;

/// Fails if the nodes differ at any of 4,000 times, which are 0.7 ms apart.
void expect_agreement(const Node &one, const Node &other) {
    for (Ns now = some_day + second; now < some_day + 4 * second; now += 700 * us)
        ASSERT_EQ(one.holders_at(now), other.holders_at(now)) << (now - some_day) / us << " us";
}

/// Jobs with each kind of goal: `d` fills the hole beside `c`.
std::vector<GangTenant> jobs_of_all_kinds() {
    return {of_nodes("a", {0, 1, 2, 3}, part_of_time(40)),
            of_nodes("b", {0, 1, 2, 3}, {.weight = 3}),
            of_nodes("c", {0, 1}),
            of_nodes("d", {2, 3}, {.cap = 20 * point}),
            of_nodes("e", {4, 5}),
            of_nodes("f", {4, 5}, part_of_time(70))};
}

TEST(ClockPlan, OrderOfTenantsDoesNotMatter) {
    Node one{.tenants = jobs_of_all_kinds()}, other = one;
    for (int n = 0; n < 10; n++) {
        std::ranges::next_permutation(other.tenants, {}, &GangTenant::name);
        expect_agreement(one, other);
    }
}

TEST(ClockPlan, NodesThatBeganAtOtherTimesAgree) {
    for (const Ns later : {1 * us, 1 * ms, 49 * ms, 999 * ms}) {
        const Node one{.tenants = jobs_of_all_kinds(), .began = some_day},
            other{.tenants = jobs_of_all_kinds(), .began = some_day + later};
        expect_agreement(one, other);
    }
}

TEST(ClockPlan, ClocksThatDifferByAMillisecondDisagreeForNoLongerAtEachChange) {
    const Node node{.tenants = {of_nodes("a", {0, 1}), of_nodes("b", {0, 1})}, .began = some_day};
    std::int64_t differ = 0;
    for (Ns now = some_day; now < some_day + second; now += 100 * us)
        differ += node.holders_at(now) != node.holders_at(now + ms);
    EXPECT_EQ(differ, 20 * 10) << "20 windows in a second, ten times of 0.1 ms in each";
}

TEST(ClockPlan, NumbersOfGpusDoNotMatter) {
    Node other{.tenants = jobs_of_all_kinds()};
    for (GangTenant &tenant : other.tenants)
        for (std::uint32_t &gpu : tenant.gpus)
            gpu = 7 - gpu;
    expect_agreement({.tenants = jobs_of_all_kinds()}, other);
}

TEST(ClockPlan, DebtsDoNotMatter) {
    Node other{.tenants = jobs_of_all_kinds()};
    for (GangTenant &tenant : other.tenants)
        tenant.account.owed = {{0, 300 * ms}, {1, -20 * ms}};
    expect_agreement({.tenants = jobs_of_all_kinds()}, other);
}

TEST(ClockPlan, JobOfOneNodeDoesNotTouchTheOthers) {
    const std::vector<GangTenant> local = {
        of_one_node("0", {0}),
        of_one_node("0", {6}),
        of_one_node("zz", {3, 4}),
        of_one_node("0", {1, 2, 5}, part_of_time(90)),
        of_one_node("b2", {2}, {.cap = 10 * point}),
        of_one_node("0", {0, 1, 2, 3, 4, 5, 6, 7}, {.aim = Aim::latency})};
    for (const GangTenant &job : local) {
        Node other{.tenants = jobs_of_all_kinds()};
        other.tenants.push_back(job);
        expect_agreement({.tenants = jobs_of_all_kinds()}, other);
    }
}

TEST(ClockPlan, HolesAreForJobsOfSeveralNodesFirst) {
    const Node one{.tenants = {of_nodes("a", {0, 1}), of_nodes("b", {0, 1, 2, 3}),
                               of_nodes("c", {2, 3}), of_nodes("d", {3})}};
    Node other = one;
    other.tenants.push_back(of_one_node("0", {0}));
    expect_agreement(one, other);
    const WindowPlan plan = plan_by_clock(other.tenants, usual_clock, 0);
    EXPECT_EQ(plan.rows.back().holders, (std::vector<std::size_t>{3, 0}));
}

TEST(ClockPlan, LinkByAJobOfOneNodeJoinsNoGroups) {
    std::vector<GangTenant> tenants = jobs_of_all_kinds();
    tenants.push_back(of_one_node("zz", {3, 4}));
    const std::vector<std::vector<std::size_t>> groups = {{0, 1, 2, 3, 6}, {4, 5, 6}};
    EXPECT_EQ(clock_groups(tenants), groups);
}

TEST(ClockPlan, JobsThatShareNothingHaveNoWindows) {
    EXPECT_TRUE(clock_groups(std::vector{of_nodes("a", {0}), of_nodes("b", {1}),
                                         of_one_node("c", {2}), of_one_node("d", {2, 3})})
                    .empty());
    // One GPU on each of many nodes makes a gang as well.
    EXPECT_EQ(clock_groups(std::vector{of_nodes("a", {0}), of_one_node("b", {0})}).size(), 1U);
    EXPECT_EQ(clock_groups(std::vector{of_nodes("a", {0}, {.cap = 50 * point})}).size(), 1U);
}

TEST(ClockPlan, CyclesBeginAtMultiplesOfTheirLengthSinceZero) {
    for (int count = 1; count <= 50; count++) {
        std::vector<GangTenant> tenants;
        for (int n = 0; n < count; n++)
            tenants.push_back(of_nodes(std::to_string(n), {0, 1}));
        const WindowPlan plan = plan_by_clock(tenants, usual_clock, some_day + 777 * ms + 1);
        const Ns cycle = plan.length();
        EXPECT_TRUE(second % cycle == 0 || cycle % second == 0) << cycle;
        EXPECT_EQ(plan.begin % cycle, 0);
        EXPECT_LE(plan.begin, some_day + 777 * ms + 1);
        EXPECT_GT(plan.begin + cycle, some_day + 777 * ms + 1);
        for (int n = 0; n < count; n++)
            EXPECT_GE(part_in_windows(plan, static_cast<std::size_t>(n)), whole / count);
    }
}

TEST(ClockPlan, SharesAndWeightsHaveTheirPartsExactly) {
    const std::vector<GangTenant> tenants = {of_nodes("a", {0, 1}, part_of_time(60)),
                                             of_nodes("b", {0, 1}, {.weight = 3}),
                                             of_nodes("c", {0, 1})};
    const WindowPlan plan = plan_by_clock(tenants, usual_clock, 0);
    EXPECT_EQ(plan.length(), 500 * ms);
    EXPECT_EQ(part_in_windows(plan, 0), 60 * point);
    EXPECT_EQ(part_in_windows(plan, 1), 30 * point);
    EXPECT_EQ(part_in_windows(plan, 2), 10 * point);
    EXPECT_TRUE(short_of_windows(tenants, plan).empty());
}

TEST(ClockPlan, CapIsNotPassedAndTheRestOfItsTimeIsNobodys) {
    const std::vector<GangTenant> tenants = {of_nodes("a", {0, 1}, {.cap = 30 * point})};
    const WindowPlan plan = plan_by_clock(tenants, usual_clock, 0);
    ASSERT_EQ(plan.rows.size(), 2U);
    EXPECT_TRUE(plan.rows[1].holders.empty());
    EXPECT_LE(part_in_windows(plan, 0), 30 * point);
    EXPECT_GE(part_in_windows(plan, 0), 29 * point);
}

TEST(ClockPlan, ShareOfOneNodeIsKeptInTheEndsOfRowsOrFoundShort) {
    const std::vector<GangTenant> tenants = {of_nodes("a", {0, 1}), of_nodes("b", {0, 1}),
                                             of_one_node("c", {1}, part_of_time(20))};
    EXPECT_EQ(short_of_windows(tenants, plan_by_clock(tenants, usual_clock, 0)),
              (std::vector<std::size_t>{2}));
    const WindowPlan plan = plan_by_clock(tenants, {.for_one_node = 20 * point}, 0);
    EXPECT_TRUE(short_of_windows(tenants, plan).empty());
    EXPECT_EQ(plan.length(), 100 * ms);
    EXPECT_EQ(part_in_windows(plan, 0), 40 * point);
    EXPECT_EQ(part_in_windows(plan, 1), 40 * point);
    EXPECT_EQ(part_in_windows(plan, 2), 20 * point);
    // Where there is no such tenant, the rows begin at the same times.
    const std::vector<GangTenant> beside = {tenants[0], tenants[1]};
    const WindowPlan other = plan_by_clock(beside, {.for_one_node = 20 * point}, 0);
    EXPECT_EQ(other.rows[0].length, plan.rows[0].length + plan.rows[1].length);
}

TEST(ClockPlan, TenantsWithoutWindowsAreFound) {
    const std::vector<GangTenant> tenants = {
        of_nodes("b", {0, 1}), of_one_node("a", {1}, {.cap = 20 * point}), of_one_node("c", {0}),
        of_one_node("s", {0}, {.aim = Aim::latency})};
    EXPECT_EQ(short_of_windows(tenants, plan_by_clock(tenants, usual_clock, 0)),
              (std::vector<std::size_t>{1, 2}));
}

TEST(ClockPlan, ServiceOfSeveralNodesLeavesTheCycleToOthers) {
    const std::vector<GangTenant> tenants = {of_nodes("s", {0, 1}, {.aim = Aim::latency}),
                                             of_one_node("a", {0}), of_one_node("b", {0})};
    const WindowPlan plan = plan_by_clock(tenants, usual_clock, 0);
    EXPECT_EQ(part_in_windows(plan, 1), 50 * point);
    EXPECT_EQ(part_in_windows(plan, 2), 50 * point);
}

TEST(ClockPlan, ChangesOfPlansAreAtWholeSecondsWhereAllCyclesEnd) {
    EXPECT_EQ(next_change_of_plans(some_day), some_day + second);
    EXPECT_EQ(next_change_of_plans(some_day + 1), some_day + second);
    EXPECT_EQ(next_change_of_plans(some_day + second - 1), some_day + second);
}

} // namespace
} // namespace qos
