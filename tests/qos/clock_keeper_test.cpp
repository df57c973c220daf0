// SPDX-License-Identifier: MIT OR GPL-2.0
// The keeper of windows by the clock: two nodes with jobs that come and go at other moments.
#include "lib/qos/clock_keeper.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>

namespace qos {
namespace {

constexpr Ns never_due = std::numeric_limits<Ns>::max();

GangTenant job_of_nodes(const std::string &name, const std::vector<std::uint32_t> &gpus,
                        bool is_on_other_nodes = true) {
    return {.name = name, .gpus = gpus, .is_on_other_nodes = is_on_other_nodes};
}

/// A node that carries orders out at once.
struct KeptNode {
    ClockKeeper keeper = ClockKeeper();
    std::map<std::uint32_t, std::map<std::string, WindowLever>> levers = {}; ///< by GPU, tenant

    /// Takes all steps that are due until then.
    void run_until(Ns end) {
        while (keeper.due() < end) {
            const Ns due = keeper.due();
            for (const WindowOrder &order : keeper.step(due)) {
                levers[order.gpu].clear();
                for (const auto half : {&WindowOrder::first, &WindowOrder::then})
                    for (const TenantLever &one : order.*half)
                        levers[order.gpu][one.tenant] = one.lever;
            }
            ASSERT_GT(keeper.due(), due);
        }
    }
    /// Returns the tenant with the long timeslice; empty: none.
    std::string holder_on(std::uint32_t gpu) {
        for (const auto &[name, lever] : levers[gpu])
            if (lever.timeslice == WindowSettings().holder_slice)
                return name;
        return "";
    }
};

TEST(ClockKeeper, IsNotDueWithoutJobsThatShareGpus) {
    ClockKeeper keeper;
    EXPECT_EQ(keeper.due(), never_due);
    keeper.set_tenants({job_of_nodes("a", {0}), job_of_nodes("b", {1, 2}, false)}, 5);
    EXPECT_TRUE(keeper.step(5).empty());
    EXPECT_EQ(keeper.due(), never_due);
    EXPECT_EQ(keeper.part_of("a"), std::nullopt);
}

TEST(ClockKeeper, OrdersLetTheHolderRunBeforeTheyHoldOthersBack) {
    ClockKeeper keeper;
    keeper.set_tenants({job_of_nodes("a", {0, 1}), job_of_nodes("b", {0, 1})}, 7 * ms);
    EXPECT_EQ(keeper.due(), 7 * ms) << "a node that starts late has windows at once";
    const auto orders = keeper.step(7 * ms);
    ASSERT_EQ(orders.size(), 2U);
    for (std::uint32_t gpu = 0; gpu < 2; gpu++) {
        EXPECT_EQ(orders[gpu].gpu, gpu);
        ASSERT_EQ(orders[gpu].first.size(), 1U);
        EXPECT_EQ(orders[gpu].first[0].tenant, "a");
        EXPECT_EQ(orders[gpu].then[0].tenant, "b");
    }
    EXPECT_EQ(keeper.due(), 50 * ms);
    EXPECT_EQ(keeper.part_of("b"), 50 * point);
}

TEST(ClockKeeper, NodesAgreeAgainFromTheNextSecondOn) {
    const std::vector<GangTenant> two = {job_of_nodes("b", {0, 1}), job_of_nodes("a", {0, 1})},
                                  three = {job_of_nodes("a", {1, 0}), job_of_nodes("c", {1, 0}),
                                           job_of_nodes("b", {1, 0})};
    KeptNode one, other;
    one.keeper.set_tenants(two, 300 * ms);
    other.keeper.set_tenants(two, 0);
    one.run_until(1400 * ms);
    other.run_until(1700 * ms);
    one.keeper.set_tenants(three, 1400 * ms);
    other.keeper.set_tenants(three, 1700 * ms);
    std::map<std::string, int> held;
    for (Ns now = 1701 * ms; now < 4 * second; now += ms) {
        one.run_until(now);
        other.run_until(now);
        for (const std::uint32_t gpu : {0U, 1U})
            ASSERT_EQ(one.holder_on(gpu), other.holder_on(0)) << now / ms;
        held[one.holder_on(0)]++;
        EXPECT_TRUE(now > 2 * second || held["c"] == 0) << "the set is in effect from a second on";
    }
    EXPECT_GT(held["c"], 600);
}

TEST(ClockKeeper, SetThatIsTakenAgainIsNotPutOff) {
    ClockKeeper keeper;
    std::vector<GangTenant> tenants = {job_of_nodes("b", {0, 1}), job_of_nodes("a", {0, 1})};
    keeper.set_tenants(tenants, 0);
    keeper.step(0);
    tenants.push_back(job_of_nodes("c", {0, 1}));
    keeper.set_tenants(tenants, 10 * ms);
    std::ranges::reverse(tenants);
    tenants[0].account.owed[0] = 7 * ms;
    keeper.set_tenants(tenants, second);
    while (keeper.due() <= second)
        keeper.step(keeper.due());
    EXPECT_TRUE(keeper.part_of("c"));
}

TEST(ClockKeeper, HasTheWindowsOfEachCycle) {
    ClockKeeper keeper;
    GangTenant most = job_of_nodes("b", {0, 1});
    most.goal = {.aim = Aim::share, .part = 75 * point};
    keeper.set_tenants({job_of_nodes("a", {0, 1}), most, job_of_nodes("c", {1}, false)}, 7 * ms);
    keeper.step(7 * ms);
    const auto of_a = keeper.windows_of("a"), of_b = keeper.windows_of("b"),
               of_c = keeper.windows_of("c");
    ASSERT_TRUE(of_a && of_b && of_c);
    EXPECT_EQ(of_a->cycle, 200 * ms);
    ASSERT_EQ(of_a->windows.size(), 1U);
    ASSERT_EQ(of_b->windows.size(), 1U);
    EXPECT_EQ(of_b->windows[0].end - of_b->windows[0].begin, 150 * ms);
    EXPECT_EQ(of_a->windows[0].end - of_a->windows[0].begin, 50 * ms);
    EXPECT_TRUE(of_c->windows.empty());
    EXPECT_EQ(of_c->gpus, std::vector<std::uint32_t>{1});
    EXPECT_FALSE(keeper.windows_of("d"));
    EXPECT_EQ(keeper.gpus(), (std::vector<std::uint32_t>{0, 1}));
}

TEST(ClockKeeper, ClockThatIsSetBackBeginsAllWindowsAnew) {
    const std::vector<GangTenant> two = {job_of_nodes("a", {0, 1}), job_of_nodes("b", {0, 1})};
    KeptNode node;
    node.keeper.set_tenants(two, 3600 * second);
    node.run_until(3601 * second);
    EXPECT_GT(node.keeper.due(), 3600 * second);
    node.keeper.set_tenants(two, 7 * second + 20 * ms);
    EXPECT_EQ(node.keeper.due(), 7 * second + 20 * ms);
    node.run_until(7 * second + 30 * ms);
    EXPECT_EQ(node.holder_on(0), "a");
    EXPECT_EQ(node.keeper.due(), 7 * second + 50 * ms);
}

TEST(ClockKeeper, GpusWithoutWindowsGoBackToTheirGovernors) {
    KeptNode node;
    node.keeper.set_tenants({job_of_nodes("a", {0, 1}), job_of_nodes("b", {0, 1})}, 0);
    node.run_until(200 * ms);
    node.keeper.set_tenants({job_of_nodes("a", {0, 1})}, 200 * ms);
    for (Ns due = node.keeper.due(); due < second; due = node.keeper.due())
        for (const WindowOrder &order : node.keeper.step(due))
            EXPECT_TRUE(order.has_windows);
    const auto orders = node.keeper.step(second);
    ASSERT_EQ(orders.size(), 2U);
    EXPECT_FALSE(orders[0].has_windows || orders[1].has_windows);
    EXPECT_EQ(node.keeper.due(), never_due);
}

TEST(ClockKeeper, GpuOfOneNodeAloneIsLeftToItsGovernor) {
    KeptNode node;
    node.keeper.set_tenants({job_of_nodes("a", {0, 1}), job_of_nodes("b", {1, 2}, false),
                             job_of_nodes("c", {2}, false)},
                            0);
    node.run_until(second);
    EXPECT_EQ(node.levers.count(2), 0U);
    EXPECT_EQ(node.holder_on(1), "a");
    EXPECT_EQ(node.keeper.part_of("b"), 0);
    EXPECT_EQ(node.keeper.part_of("c"), std::nullopt);
}

} // namespace
} // namespace qos
