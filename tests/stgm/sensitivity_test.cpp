// SPDX-License-Identifier: MIT OR GPL-2.0
// How much longer each part of a set may take, compared with every length that it could have.
#include "lib/stgm/sensitivity.hpp"

#include <numeric>

#include "random_sets.hpp"

namespace stgm {
namespace {

std::vector<std::size_t> all_of(const TaskSet &set) {
    std::vector<std::size_t> tasks(set.tasks.size());
    std::iota(tasks.begin(), tasks.end(), 0);
    return tasks;
}

TaskSet with(TaskSet set, const Room &room, Time time) {
    Segment &segment = set.tasks[room.task].segments[room.segment];
    switch (room.part) {
    case Part::cpu:
        segment.cpu = time;
        break;
    case Part::to_device:
        segment.to_device = time;
        break;
    case Part::kernel:
        segment.kernel = {time};
        break;
    case Part::from_device:
        segment.from_device = time;
        break;
    }
    return set;
}

class EachAnalysis : public testing::TestWithParam<MethodName> {};

TEST_P(EachAnalysis, SetsAreSchedulableUpToTheLongestTimeAndNotBeyond) {
    Random random(58);
    std::size_t grown = 0, shrunk = 0, never = 0;
    for (int n = 0; n < 25; n++) {
        const TaskSet set = random_set(random);
        const Options options{.method = GetParam().method,
                              .busy = random.chance(30),
                              .spin_copies = random.chance(30),
                              .timeslice = random.between(1, 4),
                              .server_overhead = random.between(0, 1)};
        const auto found = rooms(set, options, all_of(set));
        std::size_t parts = 0;
        for (const Task &task : set.tasks)
            parts += parts_of(task);
        ASSERT_EQ(found.size(), parts);
        for (const Room &room : found) {
            for (Time time = 0; time <= set.tasks[room.task].deadline + 1; time++) {
                const auto bounds = analyse(with(set, room, time), options);
                ASSERT_EQ(schedulable(bounds), room.most && time <= *room.most)
                    << time << " in " << to_json(set).dump();
                if (!room.most || time > *room.most)
                    continue;
                ASSERT_TRUE(bounds[room.first].response);
            }
            EXPECT_FALSE(
                analyse(with(set, room, room.most ? *room.most + 1 : 0), options)[room.first]
                    .response);
            grown += room.most && *room.most > room.length;
            shrunk += room.most && *room.most < room.length;
            never += !room.most;
        }
    }
    EXPECT_GT(never, 0U);
    EXPECT_GT(grown + shrunk, 0U);
}

INSTANTIATE_TEST_SUITE_P(Sensitivity, EachAnalysis, testing::ValuesIn(method_names),
                         [](const auto &one) {
                             std::string name = one.param.name;
                             std::erase(name, '-');
                             return name;
                         });

TEST(Sensitivity, GrowthIsTheLargestFactorOfAllTimesTogether) {
    Random random(5);
    std::size_t more = 0, less = 0;
    for (int n = 0; n < 40; n++) {
        const TaskSet set = random_set(random);
        const Options options;
        const auto times = [&](Time factor) {
            TaskSet changed = set;
            for (Task &task : changed.tasks)
                for (Segment &segment : task.segments) {
                    const auto grown = [&](Time &time) { time = (time * factor + 999) / 1000; };
                    grown(segment.cpu);
                    grown(segment.to_device);
                    grown(segment.from_device);
                    std::ranges::for_each(segment.kernel, grown);
                }
            return schedulable(analyse(changed, options));
        };
        const auto found = growth(set, options);
        ASSERT_TRUE(found);
        if (*found < most_growth) {
            EXPECT_TRUE(times(*found)) << *found << " " << to_json(set).dump();
            EXPECT_FALSE(times(*found + 1)) << *found << " " << to_json(set).dump();
        }
        more += *found > 1000;
        less += *found < 1000;
    }
    EXPECT_GT(more, 0U);
    EXPECT_GT(less, 0U);
}

TEST(Sensitivity, WorkOfLengthZeroMayGrowByAnyFactor) {
    const TaskSet set{"tick", 1, 1, {task("a", 9, {cpu(0)}, 0)}};
    EXPECT_EQ(growth(set, {}), most_growth);
}

TEST(Sensitivity, TheTaskThatFailsFirstMayBeAnother) {
    // The second task has lower priority, and its deadline has room for 4 of the first one's ticks.
    const TaskSet set{"tick", 1, 1, {task("a", 10, {cpu(2)}, 0), task("b", 20, {cpu(12)}, 0)}};
    const auto found = rooms(set, {}, std::vector<std::size_t>{0});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].most, 4);
    EXPECT_EQ(found[0].first, 1U);
}

} // namespace
} // namespace stgm
