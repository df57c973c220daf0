// SPDX-License-Identifier: MIT OR GPL-2.0
// The keeper of windows alone, on GPUs with made-up turns: without windows the tenants take
// turns of 2 ms, on each GPU with another phase, and in windows the holder has its GPU.
#include "lib/qos/window_keeper.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace qos {
namespace {

constexpr Ns never_due = std::numeric_limits<Ns>::max();
constexpr Ns keeper_watches = watch_before_windows, a_turn = 2 * ms;

TenantOnGpu tenant_of(const std::string &name, const Goal &goal = {}) {
    return {.name = name, .goal = goal};
}

class KeptGpus {
  public:
    Ns now = 0;
    WindowKeeper keeper;
    std::map<std::uint32_t, Ns> phases = {};       ///< by GPU; without one: 1 ms for each number
    std::vector<std::uint32_t> silent = {};        ///< GPUs that do not answer
    bool gives_way = true, gives_way_in = true;    ///< turns without windows, and in windows
    std::map<std::uint32_t, WindowOrder> has = {}; ///< the last order of each GPU

    void set(std::uint32_t gpu, const std::vector<TenantOnGpu> &tenants) {
        tenants_[gpu] = tenants;
        keeper.set_tenants(gpu, tenants, now);
    }

    /// Steps when it is due. Returns the orders.
    std::vector<WindowOrder> step() { return step_at(std::max(now, keeper.due())); }

    std::vector<WindowOrder> step_at(Ns when) {
        std::vector<WindowTurns> all;
        for (const std::uint32_t gpu : keeper.gpus())
            if (std::ranges::count(silent, gpu) == 0) {
                all.push_back({gpu, turns_on(gpu, read_until_[gpu], when)});
                read_until_[gpu] = when;
            }
        now = when;
        const std::vector<WindowOrder> orders = keeper.step(now, all);
        for (const WindowOrder &order : orders)
            has[order.gpu] = order;
        return orders;
    }

    /// Steps until the time. Returns whether a GPU lost its windows on the way.
    bool run_until(Ns end) {
        bool lost = false;
        while (keeper.due() < end)
            for (const WindowOrder &order : step())
                lost = lost || !order.has_windows;
        return lost;
    }

    bool has_windows(std::uint32_t gpu) const {
        return has.contains(gpu) && has.at(gpu).has_windows;
    }

    /// Returns the owner of the long timeslice on the GPU.
    std::string holder(std::uint32_t gpu) const {
        for (const auto &[tenant, lever] : has.at(gpu).first)
            if (lever.timeslice == WindowSettings().holder_slice)
                return tenant;
        return "";
    }

  private:
    std::vector<WindowTurn> turns_on(std::uint32_t gpu, Ns begin, Ns end) {
        const auto &tenants = tenants_[gpu];
        const Ns phase = phases.contains(gpu) ? phases[gpu] : gpu * ms;
        std::vector<WindowTurn> turns;
        for (Ns from = begin; from < end && !tenants.empty();) {
            const Ns number = (from + phase) / a_turn,
                     to = std::min(end, (number + 1) * a_turn - phase);
            const bool ends = to < end;
            if (has_windows(gpu))
                turns.push_back({holder(gpu), from, to, ends && gives_way_in});
            else
                turns.push_back({tenants[static_cast<std::size_t>(number) % tenants.size()].name,
                                 from, to, ends && gives_way});
            from = to;
        }
        return turns;
    }

    std::map<std::uint32_t, std::vector<TenantOnGpu>> tenants_;
    std::map<std::uint32_t, Ns> read_until_;
};

/// Two gangs on two GPUs, until they have windows.
KeptGpus two_gangs_in_windows(const Goal &goal = {}) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a", goal), tenant_of("b")});
    gpus.step();
    gpus.step();
    return gpus;
}

TEST(WindowKeeper, IsNeverDueWithoutGangs) {
    KeptGpus gpus;
    EXPECT_EQ(gpus.keeper.due(), never_due);
    gpus.set(0, {tenant_of("a"), tenant_of("b")});
    gpus.set(1, {tenant_of("c")});
    EXPECT_TRUE(gpus.step().empty());
    EXPECT_EQ(gpus.keeper.due(), never_due);
    EXPECT_TRUE(gpus.keeper.gpus().empty());
    EXPECT_FALSE(gpus.keeper.report("a").has_value());
}

TEST(WindowKeeper, ReplicasAreTenantsOfTheirOwn) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {{.name = "a", .is_gang = false}, {.name = "b", .is_gang = false}});
    gpus.step();
    EXPECT_EQ(gpus.keeper.due(), never_due);
    gpus.set(0, {{.name = "a", .is_gang = false}, tenant_of("g")});
    gpus.set(1, {{.name = "a", .is_gang = false}, tenant_of("g")});
    gpus.run_until(gpus.now + keeper_watches + ms);
    EXPECT_TRUE(gpus.has_windows(0) && gpus.has_windows(1));
    EXPECT_TRUE(gpus.keeper.report("g").has_value());
    EXPECT_FALSE(gpus.keeper.report("a").has_value());
}

TEST(WindowKeeper, TriesWindowsWhenGangsDoNotRunTogether) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {1U, 0U})
        gpus.set(gpu, {tenant_of("b"), tenant_of("a")});
    EXPECT_EQ(gpus.keeper.due(), 0);
    EXPECT_TRUE(gpus.step().empty());
    EXPECT_EQ(gpus.keeper.gpus(), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(gpus.keeper.report("a")->why, "");
    EXPECT_EQ(gpus.keeper.due(), keeper_watches);
    const auto orders = gpus.step();
    ASSERT_EQ(orders.size(), 2U);
    for (const WindowOrder &order : orders) {
        EXPECT_TRUE(order.has_windows);
        EXPECT_EQ(order.first,
                  (std::vector<TenantLever>{{"a", {.timeslice = WindowSettings().holder_slice}}}));
        EXPECT_EQ(order.then,
                  (std::vector<TenantLever>{{"b", {.timeslice = WindowSettings().other_slice}}}));
    }
    EXPECT_EQ(gpus.keeper.report("b")->why, "a gang, with windows on 2 GPUs");
    EXPECT_EQ(gpus.keeper.due(), keeper_watches + 50 * ms);
    gpus.step();
    EXPECT_EQ(gpus.holder(0) + gpus.holder(1), "bb");
}

TEST(WindowKeeper, LeavesGangsAloneThatRunTogether) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U}) {
        gpus.phases[gpu] = 0;
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    }
    EXPECT_FALSE(gpus.run_until(10 * second));
    EXPECT_TRUE(gpus.has.empty());
    EXPECT_EQ(gpus.keeper.report("a")->why,
              "left as it is, because it runs together for 100 % of its time");
    gpus.phases[1] = a_turn;
    gpus.run_until(12 * second);
    EXPECT_TRUE(gpus.has_windows(0)) << "it is watched on";
}

TEST(WindowKeeper, LeavesGangsAloneThatLoseTheirStepForAMoment) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U}) {
        gpus.phases[gpu] = 0;
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    }
    for (int n = 1; n < 10; n++) {
        gpus.phases[1] = 0;
        gpus.run_until(n * 6 * second);
        gpus.step_at(n * 6 * second);
        gpus.phases[1] = a_turn;
        gpus.run_until(n * 6 * second + 500 * ms);
        gpus.step_at(n * 6 * second + 500 * ms);
        EXPECT_TRUE(gpus.has.empty()) << n;
    }
}

TEST(WindowKeeper, GangThatSharesOneGpuNeedsNoWindows) {
    KeptGpus gpus;
    gpus.set(0, {tenant_of("a"), tenant_of("b")});
    gpus.set(1, {tenant_of("a")});
    gpus.run_until(5 * second);
    EXPECT_TRUE(gpus.has.empty());
    EXPECT_EQ(gpus.keeper.report("a")->why,
              "left as it is, because it runs together for 100 % of its time");
}

TEST(WindowKeeper, LateGpuPutsTheDecisionOff) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    gpus.step();
    gpus.silent = {1};
    for (int n = 0; n < 5; n++)
        EXPECT_TRUE(gpus.step().empty());
    EXPECT_GT(gpus.now, keeper_watches);
    EXPECT_LT(gpus.now, keeper_watches + second);
    gpus.silent.clear();
    gpus.step();
    EXPECT_TRUE(gpus.has_windows(0) && gpus.has_windows(1));
}

TEST(WindowKeeper, LateGpuIsOwedNothing) {
    KeptGpus gpus = two_gangs_in_windows({.aim = Aim::share, .part = 50 * point});
    gpus.run_until(4 * second);
    ASSERT_TRUE(gpus.has_windows(0));
    while (gpus.holder(0) != "a")
        gpus.step();
    const Ns usual = gpus.keeper.due() - gpus.now;
    gpus.silent = {1};
    gpus.step();
    gpus.silent.clear();
    Ns longest = 0;
    for (int n = 0; n < 8; n++) {
        gpus.step();
        if (gpus.holder(0) == "a")
            longest = std::max(longest, gpus.keeper.due() - gpus.now);
    }
    EXPECT_LE(longest, usual + 2 * ms);
    EXPECT_TRUE(gpus.has_windows(1));
}

TEST(WindowKeeper, TenantThatComesInAWindowGetsWindowsAtOnce) {
    KeptGpus gpus = two_gangs_in_windows();
    gpus.run_until(4 * second);
    gpus.now += 20 * ms;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b"), tenant_of("c")});
    EXPECT_EQ(gpus.keeper.due(), gpus.now);
    const auto orders = gpus.step();
    ASSERT_EQ(orders.size(), 2U);
    for (const WindowOrder &order : orders) {
        EXPECT_TRUE(order.has_windows);
        EXPECT_EQ(order.first.size() + order.then.size(), 3U);
    }
    std::string holders;
    for (int n = 0; n < 3; n++) {
        holders += gpus.holder(1);
        gpus.step();
    }
    EXPECT_EQ(holders, "abc");
}

TEST(WindowKeeper, TenantThatGoesEndsTheWindowsOfTheLastOne) {
    KeptGpus gpus = two_gangs_in_windows();
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("b")});
    const auto orders = gpus.step();
    ASSERT_EQ(orders.size(), 2U);
    for (const WindowOrder &order : orders) {
        EXPECT_FALSE(order.has_windows);
        EXPECT_TRUE(order.first.empty() && order.then.empty());
    }
    EXPECT_EQ(gpus.keeper.due(), never_due);
    EXPECT_FALSE(gpus.keeper.report("b").has_value());
}

TEST(WindowKeeper, GpuThatGoesEndsItsWindowsAlone) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U, 2U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    gpus.step();
    gpus.step();
    ASSERT_TRUE(gpus.has_windows(2));
    gpus.set(2, {});
    const auto orders = gpus.step();
    ASSERT_EQ(orders.size(), 3U);
    EXPECT_TRUE(orders[0].has_windows && orders[1].has_windows);
    EXPECT_EQ(orders[2].gpu, 2U);
    EXPECT_FALSE(orders[2].has_windows);
    EXPECT_EQ(gpus.keeper.gpus(), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(gpus.keeper.report("a")->why, "a gang, with windows on 2 GPUs");
}

TEST(WindowKeeper, TrialThatFailsGivesTheGpusBack) {
    KeptGpus gpus;
    gpus.gives_way_in = false;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    gpus.run_until(keeper_watches + trial_of_windows - ms);
    ASSERT_TRUE(gpus.has_windows(0) && gpus.has_windows(1));
    EXPECT_TRUE(gpus.run_until(keeper_watches + trial_of_windows + 200 * ms));
    EXPECT_FALSE(gpus.has_windows(0) || gpus.has_windows(1));
    EXPECT_EQ(gpus.keeper.report("a")->why,
              "left as it is, because a trial of windows made the jobs slower");
    // The choice stands for a minute, in which turns are still counted.
    EXPECT_LE(gpus.keeper.due(), gpus.now + second);
    const Ns left = gpus.now;
    gpus.run_until(left + between_trials - ms);
    EXPECT_FALSE(gpus.has_windows(0));
    gpus.run_until(left + between_trials + keeper_watches + 100 * ms);
    EXPECT_TRUE(gpus.has_windows(0)) << "it is tried again";
}

TEST(WindowKeeper, WindowsAreLookedAtAgainAfterAMinute) {
    KeptGpus gpus = two_gangs_in_windows();
    EXPECT_FALSE(gpus.run_until(keeper_watches + trial_of_windows + between_trials - second));
    EXPECT_TRUE(gpus.run_until(keeper_watches + trial_of_windows + between_trials + second / 2));
    EXPECT_FALSE(gpus.keeper.report("a")->has_windows);
    EXPECT_EQ(gpus.keeper.report("a")->why, "");
}

TEST(WindowKeeper, AnotherGoalMakesAnotherPlan) {
    KeptGpus gpus = two_gangs_in_windows();
    gpus.run_until(4 * second);
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a", {.weight = 3}), tenant_of("b")});
    gpus.step();
    std::map<std::string, Ns> held;
    for (int n = 0; n < 8; n++) {
        const std::string holder = gpus.holder(0);
        const Ns since = gpus.now;
        gpus.step();
        held[holder] += gpus.now - since;
    }
    EXPECT_NEAR(static_cast<double>(held["a"]) / static_cast<double>(held["b"]), 3, 0.5);
}

TEST(WindowKeeper, ReportsTogetherOfTheLastTimeThatWasCounted) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    gpus.step();
    EXPECT_FALSE(gpus.keeper.report("a")->together.has_value());
    gpus.step(); // each GPU is half a turn behind the other
    EXPECT_NEAR(static_cast<double>(*gpus.keeper.report("a")->together), 50.0 * point, point);
    gpus.step();
    gpus.step();
    EXPECT_EQ(gpus.keeper.report("a")->together, whole);
}

/// Tenants on two GPUs that always have work, until it is known how often they give way.
KeptGpus busy_in_windows(const std::vector<TenantOnGpu> &tenants) {
    KeptGpus gpus;
    gpus.gives_way = gpus.gives_way_in = false;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, tenants);
    gpus.run_until(10 * second);
    return gpus;
}

/// Returns the length of the window that begins with the next step.
Ns next_window(KeptGpus &gpus) {
    gpus.step();
    return gpus.keeper.due() - gpus.now;
}

TEST(WindowKeeper, WindowsAreLongerWhereNobodyGivesWay) {
    KeptGpus gpus = busy_in_windows({tenant_of("a"), tenant_of("b")});
    EXPECT_EQ(next_window(gpus), 100 * ms);
    gpus.gives_way_in = true;
    gpus.run_until(15 * second);
    EXPECT_LE(next_window(gpus), 60 * ms) << "a turn of 2 ms gives way 500 times in a second";
    gpus.gives_way_in = false;
    gpus.run_until(25 * second);
    EXPECT_EQ(next_window(gpus), 100 * ms);
}

TEST(WindowKeeper, WindowsAreNoLongerWhileTheyAreTried) {
    KeptGpus gpus;
    gpus.gives_way = gpus.gives_way_in = false;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    gpus.run_until(2 * second);
    EXPECT_LE(next_window(gpus), 60 * ms);
}

TEST(WindowKeeper, WindowsOfPromisesAndCapsAreNotLonger) {
    for (const Goal &goal :
         {Goal{.aim = Aim::share, .part = 50 * point}, Goal{.cap = 50 * point}}) {
        KeptGpus gpus = busy_in_windows({tenant_of("a", goal), tenant_of("b")});
        EXPECT_LE(next_window(gpus) + next_window(gpus), 150 * ms);
    }
}

TEST(WindowKeeper, LongerWindowsOfManyStayWithinTheLongestCycle) {
    KeptGpus five = busy_in_windows(
        {tenant_of("a"), tenant_of("b"), tenant_of("c"), tenant_of("d"), tenant_of("e")});
    EXPECT_GE(next_window(five), 90 * ms);
    KeptGpus six = busy_in_windows({tenant_of("a"), tenant_of("b"), tenant_of("c"), tenant_of("d"),
                                    tenant_of("e"), tenant_of("f")});
    EXPECT_LE(next_window(six), 60 * ms);
}

TEST(WindowKeeper, GroupsThatDoNotTouchAreKeptByThemselves) {
    KeptGpus gpus;
    for (const std::uint32_t gpu : {0U, 1U})
        gpus.set(gpu, {tenant_of("a"), tenant_of("b")});
    gpus.step();
    gpus.run_until(second);
    gpus.now = second - 20 * ms;
    for (const std::uint32_t gpu : {2U, 3U})
        gpus.set(gpu, {tenant_of("c"), tenant_of("d")});
    EXPECT_TRUE(gpus.step().empty()) << "the windows of others go on";
    EXPECT_EQ(gpus.keeper.due(), second);
    EXPECT_FALSE(gpus.has.contains(2));
    gpus.run_until(gpus.now + keeper_watches + ms);
    EXPECT_TRUE(gpus.has_windows(2) && gpus.has_windows(0));
}

} // namespace
} // namespace qos
