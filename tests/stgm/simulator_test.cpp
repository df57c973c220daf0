// SPDX-License-Identifier: MIT OR GPL-2.0
// Schedules worked out by hand, and traces of the simulator under the checker, which shares no code
// with it.
#include "lib/stgm/search.hpp"
#include "random_sets.hpp"

namespace stgm {
namespace {

/** Returns a plan with one job of each task, released in the given order, with worst-case parts. */
Plan once(const TaskSet &set, const std::vector<std::pair<std::string, Time>> &releases) {
    Plan plan;
    for (const auto &[name, at] : releases) {
        const std::size_t task = index_of(set, name);
        plan.jobs.push_back({task, at, worst_parts(set.tasks[task], set.sms)});
        if (std::ranges::find(plan.order, task) == plan.order.end())
            plan.order.push_back(task);
    }
    return plan;
}

struct Schedule {
    const char *file;
    Waiting waiting;
    std::vector<std::pair<std::string, Time>> releases;
    const char *task;
    Time response;
};

class Schedules : public testing::TestWithParam<Schedule> {};

TEST_P(Schedules, MatchHandCalculations) {
    const auto &one = GetParam();
    const TaskSet set = set_of(one.file);
    const Plan plan = once(set, one.releases);
    Trace trace;
    const std::vector<Time> responses = simulate(set, one.waiting, plan, &trace);
    for (std::size_t job = 0; job < plan.jobs.size(); job++)
        if (set.tasks[plan.jobs[job].task].name == one.task) {
            EXPECT_EQ(responses[job], one.response) << to_text(trace, set);
        }
    EXPECT_EQ(check_trace(trace, set, one.waiting), std::vector<std::string>{})
        << to_text(trace, set);
}

INSTANTIATE_TEST_SUITE_P(
    Paper, Schedules,
    testing::Values(Schedule{"ce1", {}, {{"lo", 0}, {"hi", 0}}, "hi", 4},
                    Schedule{"ce2", {}, {{"C", 0}, {"B", 0}, {"A", 0}}, "A", 4},
                    Schedule{"ce2c", {}, {{"C", 0}, {"B", 1}, {"A", 1}}, "A", 115},
                    Schedule{"ce3", {}, {{"lo", 0}, {"mid", 0}, {"hi", 0}}, "mid", 19},
                    Schedule{"ce4", {true, false}, {{"far", 0}, {"hi", 0}, {"lo", 0}}, "lo", 4},
                    Schedule{"ce5", {true, false}, {{"far", 0}, {"lo", 0}, {"hi", 0}}, "hi", 4},
                    Schedule{"ce6", {false, true}, {{"far", 0}, {"hi", 0}, {"lo", 0}}, "lo", 5},
                    // A task that suspends while it waits for the copy engine lets the other run.
                    Schedule{"ce6", {}, {{"far", 0}, {"hi", 0}, {"lo", 0}}, "lo", 1}),
    [](const auto &info) {
        return std::string(info.param.file) + (info.index == 7 ? "_suspend" : "");
    });

TEST(Simulator, CompletionComesBeforeARelease) {
    const TaskSet set{
        "tick", 1, 1, {task("hi", 10, {cpu(5)}, 0), task("lo", 20, {cpu(3), cpu(0)}, 0)}};
    EXPECT_EQ(simulate(set, {}, once(set, {{"lo", 0}, {"hi", 3}})), (std::vector<Time>{3, 5}));
    EXPECT_EQ(simulate(set, {}, once(set, {{"lo", 0}, {"hi", 2}})), (std::vector<Time>{8, 5}));
}

TEST(Simulator, JobWaitsForThePreviousJob) {
    const TaskSet set{"tick", 1, 1, {task("a", 10, {cpu(15)}, 0)}};
    Trace trace;
    EXPECT_EQ(simulate(set, {}, once(set, {{"a", 0}, {"a", 10}, {"a", 20}}), &trace),
              (std::vector<Time>{15, 20, 25}));
    EXPECT_TRUE(check_trace(trace, set, {}).empty());
}

/** Simulates schedules with a planted fault. Returns for how many the checker reports errors. */
int noticed(Fault fault, const Waiting &waiting, int schedules) {
    int count = 0;
    Random random(7);
    for (int n = 0; n < schedules; n++) {
        const TaskSet set = random_set(random);
        Choices choices = synchronous(set);
        for (Time &offset : choices.offset)
            offset = random.between(0, 6);
        choices.seed = random.next();
        choices.shorter_percent = static_cast<unsigned>(random.between(0, 40));
        Trace trace;
        simulate(set, waiting, plan_of(set, choices, 100, 4), &trace, fault);
        const std::vector<std::string> wrong = check_trace(trace, set, waiting);
        count += !wrong.empty();
        if (fault == Fault::none && !wrong.empty()) {
            ADD_FAILURE() << wrong[0] << "\n" << to_json(set).dump() << "\n" << to_text(trace, set);
            break;
        }
    }
    return count;
}

class Waitings : public testing::TestWithParam<Waiting> {};

TEST_P(Waitings, TracesFollowTheProtocol) {
    EXPECT_EQ(noticed(Fault::none, GetParam(), 3000), 0);
}

TEST_P(Waitings, BrokenOrderOfKernelsIsNoticed) {
    EXPECT_GT(noticed(Fault::kernel_order, GetParam(), 1000), 0);
}

TEST_P(Waitings, BrokenOrderOfCopiesIsNoticed) {
    EXPECT_GT(noticed(Fault::copy_order, GetParam(), 1000), 0);
}

TEST_P(Waitings, AnIdleCopyEngineIsNoticed) {
    EXPECT_GT(noticed(Fault::idle_copies, GetParam(), 1000), 0);
}

INSTANTIATE_TEST_SUITE_P(Simulator, Waitings,
                         testing::Values(Waiting{}, Waiting{false, true}, Waiting{true, false}));

// Busy tasks never wait for the CPU while they are boosted, so only suspending ones are tried.
TEST(Simulator, ADroppedBoostIsNoticed) {
    EXPECT_GT(noticed(Fault::no_boost, {}, 1000), 0);
    EXPECT_GT(noticed(Fault::no_boost, {false, true}, 1000), 0);
}

TEST(Simulator, BrokenOrderOfBoostedTasksIsNoticed) {
    EXPECT_GT(noticed(Fault::boost_order, {}, 3000), 0);
}

/** Changes single records of a correct trace. */
TEST(Checker, NoticesChangedTimes) {
    const TaskSet set = set_of("ce3");
    Trace good;
    simulate(set, {}, once(set, {{"lo", 0}, {"mid", 0}, {"hi", 0}}), &good);
    ASSERT_TRUE(check_trace(good, set, {}).empty());
    for (std::size_t n = 0; n < good.size(); n++) {
        Trace bad = good;
        bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(n));
        EXPECT_FALSE(check_trace(bad, set, {}).empty()) << "without record " << n << " of\n"
                                                        << to_text(good, set);
        // All later records are shifted, as if something took longer.
        bad = good;
        for (std::size_t later = n; later < bad.size(); later++)
            bad[later].at++;
        if (n > 0 && good[n].at > good[n - 1].at) {
            EXPECT_FALSE(check_trace(bad, set, {}).empty())
                << "later from record " << n << " on of\n"
                << to_text(good, set);
        }
    }
}

} // namespace
} // namespace stgm
