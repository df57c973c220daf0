// SPDX-License-Identifier: MIT OR GPL-2.0
// The plan of several GPUs, and a governor that takes its decisions from a plan.
#include "lib/qos/plan.hpp"

#include <gtest/gtest.h>

#include "lib/qos/governor.hpp"

namespace qos {
namespace {

GpuView view_of(std::uint32_t gpu, Part share, std::int64_t tsgs) {
    GpuView view{.gpu = gpu};
    view.entrants = {{{.aim = Aim::share, .part = share}, tsgs}, {{}, 1}};
    view.accounts.resize(2);
    return view;
}

TEST(MachinePlan, HasADecisionForEachTenantOfEachGpu) {
    const std::vector<GpuView> gpus = {view_of(0, 30 * point, 1), view_of(3, 60 * point, 2)};
    const std::vector<Plan> plans = plan(gpus);
    ASSERT_EQ(plans.size(), 2U);
    for (std::size_t n = 0; n < 2; n++) {
        const Plan alone = plan_alone(gpus[n]);
        ASSERT_EQ(plans[n].decisions.size(), 2U);
        EXPECT_EQ(plans[n].decisions, alone.decisions) << "goals are of one GPU each";
        EXPECT_EQ(plans[n].accounts, alone.accounts);
    }
    EXPECT_NE(plans[0].decisions, plans[1].decisions);
    EXPECT_TRUE(plan({}).empty());
}

TEST(MachinePlan, OneGpuDoesNotChangeAnother) {
    GpuView late = view_of(1, 50 * point, 1);
    late.seen = {{90 * ms, 100 * ms, 9}, {10 * ms, 100 * ms, 1}};
    const GpuView own = view_of(0, 30 * point, 1);
    const std::vector<GpuView> gpus = {own, late};
    EXPECT_EQ(plan(gpus)[0].decisions, plan_alone(own).decisions);
}

/// A governor hands the observations of an epoch to the plan, and sets the plan's decisions.
TEST(MachinePlan, GovernorsTakeTheirDecisionsFromIt) {
    std::vector<GpuView> views;
    Governor governor({}, {{.aim = Aim::share, .part = 30 * point}, {}}, 0, [&](GpuView view) {
        Plan made = plan_alone(view);
        for (Decision &decision : made.decisions)
            decision.timeslice = 777 * us;
        if (made.decisions.size() > 1) // a governor begins without tenants when goals are replaced
            made.decisions[1].paused = true;
        views.push_back(std::move(view));
        return made;
    });
    EXPECT_EQ(governor.lever(0), (Lever{777 * us, false}));
    EXPECT_EQ(governor.lever(1), (Lever{777 * us, true}));
    governor.set_tsgs(0, 1);
    governor.set_tsgs(1, 1);
    governor.add({0, 1, 0, 40 * ms, true});
    ASSERT_TRUE(governor.step(100 * ms));
    ASSERT_FALSE(views.empty());
    ASSERT_EQ(views.back().seen.size(), 2U) << "an epoch has ended";
    EXPECT_EQ(views.back().seen[0].used, 40 * ms);
    const std::size_t before = views.size();
    governor.set_goals(std::vector<Goal>{{.aim = Aim::share, .part = 40 * point}, {}},
                       std::vector<std::optional<std::size_t>>{{}, 1}, 110 * ms);
    EXPECT_GT(views.size(), before) << "other goals are planned for, too";
    EXPECT_EQ(views.back().entrants[0].goal.part, 40 * point);
    EXPECT_EQ(governor.lever(0).timeslice, 777 * us);
}

} // namespace
} // namespace qos
