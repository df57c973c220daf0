// SPDX-License-Identifier: MIT OR GPL-2.0
// Allocations: each algorithm on small sets, and the analysis on what it finds.
#include "lib/stgm/allocate.hpp"
#include "random_sets.hpp"

namespace stgm {
namespace {

TEST(Allocate, LineSixteenAsPrintedForgetsWhoIsOnTheCore) {
    const TaskSet set = set_of("a16");
    const Allocation printed = allocate(set, {.method = Method::printed}, Algorithm::paper);
    EXPECT_TRUE(printed.found);
    EXPECT_TRUE(printed.refused);
    EXPECT_EQ(printed.bounds[0].response, 6);
    EXPECT_EQ(printed.bounds[1].response, 3);
    // By the sound analysis no allocation of this set is schedulable.
    for (const Algorithm algorithm : {Algorithm::mended, Algorithm::paper, Algorithm::disjoint})
        EXPECT_FALSE(allocate(set, {}, algorithm).found);
    EXPECT_TRUE(allocate(set, {}, Algorithm::paper).refused);
}

/** Two GPU tasks: "slow" meets its deadline on 3 SMs or more, "steady" gains nothing by more. */
TaskSet two_of_four_sms() {
    return {"tick",
            2,
            4,
            {task("slow", 40, {gpu(1, {90, 45, 30, 23}, 1)}, 0),
             task("steady", 50, {gpu(1, {10}, 1)}, 0)}};
}

TEST(Allocate, NextSmGoesWhereItSavesMost) {
    const Allocation mended = allocate(two_of_four_sms(), {}, Algorithm::mended);
    ASSERT_TRUE(mended.found);
    EXPECT_EQ(*mended.set.tasks[0].sms, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(*mended.set.tasks[1].sms, (std::vector<std::uint32_t>{3}));
    // Line 24 as printed gives each SM to the task that gains nothing, until there are no more.
    EXPECT_FALSE(allocate(two_of_four_sms(), {}, Algorithm::paper).found);
}

class Algorithms : public testing::TestWithParam<Algorithm> {};

TEST_P(Algorithms, FoundAllocationsAreAccepted) {
    Random random(3);
    int found = 0, not_found = 0;
    for (int n = 0; n < 150; n++) {
        TaskSet set = random_set(random);
        for (const auto &[name, method] : method_names)
            for (const bool busy : {false, true}) {
                const Options options{.method = method, .busy = busy};
                const Allocation allocation = allocate(set, options, GetParam());
                (allocation.found ? found : not_found)++;
                const std::vector<Bound> bounds = analyse(allocation.set, options);
                if (method != Method::printed || GetParam() != Algorithm::paper) {
                    if (allocation.found) {
                        EXPECT_TRUE(schedulable(bounds)) << name;
                    }
                }
                ASSERT_EQ(bounds.size(), set.tasks.size());
                for (const Task &task : allocation.set.tasks) {
                    ASSERT_TRUE(task.core && task.sms);
                    EXPECT_LT(*task.core, set.cores);
                    EXPECT_EQ(task.sms->empty(), !task.uses_gpu());
                }
                EXPECT_TRUE(parse(to_json(allocation.set).dump()))
                    << "it is a set that 'check' reads";
            }
    }
    EXPECT_GT(found, 100);
    EXPECT_GT(not_found, 100);
}

INSTANTIATE_TEST_SUITE_P(Allocate, Algorithms,
                         testing::Values(Algorithm::mended, Algorithm::paper, Algorithm::disjoint));

TEST(Allocate, DisjointSetsAreDisjointOrEqual) {
    Random random(4);
    int found = 0;
    for (int n = 0; n < 300; n++) {
        const Allocation allocation = allocate(random_set(random), {}, Algorithm::disjoint);
        found += allocation.found;
        for (const Task &one : allocation.set.tasks)
            for (const Task &other : allocation.set.tasks) {
                std::vector<std::uint32_t> both;
                std::ranges::set_intersection(*one.sms, *other.sms, std::back_inserter(both));
                EXPECT_TRUE(both.empty() || *one.sms == *other.sms);
            }
    }
    EXPECT_GT(found, 100);
}

TEST(Allocate, FederatedTasksHaveSmsOfTheirOwn) {
    TaskSet set = two_of_four_sms();
    EXPECT_TRUE(allocate(set, {.method = Method::federated}, Algorithm::mended).found);
    set.sms = 1;
    EXPECT_FALSE(allocate(set, {.method = Method::federated}, Algorithm::mended).found);
}

} // namespace
} // namespace stgm
