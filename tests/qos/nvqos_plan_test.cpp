// SPDX-License-Identifier: MIT OR GPL-2.0
// The plan that the threads of GPUs make together.
#include "tools/nvqos/keep/machine_plan.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace nvqos {
namespace {

qos::GpuView view_of_gpu(std::uint32_t gpu, qos::Part share) {
    qos::GpuView view{.gpu = gpu};
    view.entrants = {{{.aim = qos::Aim::share, .part = share}, 1}, {{}, 1}};
    view.accounts.resize(2);
    return view;
}

TEST(PlanOfThreads, HasTheLastStateOfEachGpu) {
    MachinePlan plan;
    const auto first = view_of_gpu(5, 30 * qos::point), second = view_of_gpu(2, 60 * qos::point);
    EXPECT_EQ(plan.decide(first).decisions, qos::plan_alone(first).decisions);
    EXPECT_EQ(plan.decide(second).decisions, qos::plan_alone(second).decisions);
    EXPECT_EQ(plan.size(), 2U);
    const auto later = view_of_gpu(5, 10 * qos::point);
    EXPECT_EQ(plan.decide(later).decisions, qos::plan_alone(later).decisions);
    EXPECT_EQ(plan.size(), 2U) << "it replaces the first one";
    plan.forget(5);
    EXPECT_EQ(plan.size(), 1U);
    EXPECT_EQ(plan.decide(second).decisions, qos::plan_alone(second).decisions);
}

/// Each thread gets the decisions of its own GPU, whatever the others do. One GPU never answers
/// again after its first epoch.
TEST(PlanOfThreads, NoGpuWaitsForAnother) {
    MachinePlan plan;
    static_cast<void>(plan.decide(view_of_gpu(9, 50 * qos::point)));
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (std::uint32_t gpu = 0; gpu < 4; gpu++)
        threads.emplace_back([&, gpu] {
            for (int n = 1; n <= 200; n++) {
                const auto view = view_of_gpu(gpu, (n % 90 + 1) * qos::point);
                wrong += plan.decide(view).decisions != qos::plan_alone(view).decisions;
            }
        });
    threads.clear();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(plan.size(), 5U);
}

} // namespace
} // namespace nvqos
