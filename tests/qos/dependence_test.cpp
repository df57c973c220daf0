// SPDX-License-Identifier: MIT OR GPL-2.0
// Which goals another tenant limits or can break: by the rule, and on the simulated GPU.
#include "lib/qos/dependence.hpp"

#include <gtest/gtest.h>

#include "governed.hpp"
#include "shares.hpp"

namespace {

using namespace qos;
using Why = Dependence::Why;

Goal goal_of(Aim aim, Part percent = 0, Part cap = 0) {
    Goal goal{.aim = aim, .part = percent * point};
    if (cap)
        goal.cap = cap * point;
    return goal;
}

Goal within(Ns p99) {
    return {.aim = Aim::latency, .p99 = p99};
}

Goal turns_of(Ns slice) {
    return {.aim = Aim::timeslice, .slice = slice};
}

const Goal service = goal_of(Aim::latency), others{};

/// Two goals, beside one other task, and the reasons why each depends on the next one.
struct Pair {
    const char *name;
    Goal first, second;
    std::vector<Why> of_first, of_second;
};

const Pair pairs[] = {
    {"a share beside a service", service, goal_of(Aim::share, 30), {Why::time}, {}},
    {"a speed beside a service", service, goal_of(Aim::speed, 5), {Why::time}, {}},
    {"a share with a cap", service, goal_of(Aim::share, 30, 50), {Why::time}, {}},
    {"a service with a cap that leaves room",
     goal_of(Aim::latency, 0, 65),
     goal_of(Aim::share, 30),
     {},
     {}},
    {"a service whose cap is too high",
     goal_of(Aim::latency, 0, 70),
     goal_of(Aim::share, 30),
     {Why::time},
     {}},
    {"a service with 5 ms, and a share", within(5 * ms), goal_of(Aim::share, 30), {Why::time}, {}},
    {"a service with less than a round",
     within(ms),
     goal_of(Aim::share, 30),
     {Why::time, Why::turns},
     {}},
    {"two services", service, service, {Why::turns}, {Why::turns}},
    {"two services, one with a time",
     within(50 * ms),
     goal_of(Aim::latency, 0, 10),
     {Why::turns},
     {Why::turns}},
    {"a service beside fixed turns", service, turns_of(ms), {Why::turns}, {}},
    {"a service beside a cap", service, goal_of(Aim::best_effort, 0, 50), {}, {}},
    {"a service beside best effort", service, others, {}, {}},
    {"two shares", goal_of(Aim::share, 50), goal_of(Aim::share, 40), {}, {}},
    {"a share and a speed", goal_of(Aim::share, 50), goal_of(Aim::speed, 40), {}, {}},
    {"a share beside fixed turns", turns_of(ms), goal_of(Aim::share, 50), {}, {}},
    {"a share beside a cap", goal_of(Aim::best_effort, 0, 50), goal_of(Aim::share, 50), {}, {}},
    {"two caps", goal_of(Aim::best_effort, 0, 90), goal_of(Aim::best_effort, 0, 90), {}, {}},
};

TEST(Dependences, OfPairs) {
    for (const Pair &pair : pairs)
        for (const bool is_swapped : {false, true})
            for (const std::int64_t tsgs : {0, 1}) {
                std::vector<Entrant> entrants = {{pair.first, tsgs}, {pair.second, 1}, {others, 1}};
                if (is_swapped)
                    std::swap(entrants[0], entrants[1]);
                std::vector<Why> found[3];
                for (const Dependence &one : dependences(entrants, {}))
                    if (one.on < 2)
                        found[one.tenant].push_back(one.why);
                EXPECT_EQ(found[is_swapped], pair.of_first) << pair.name;
                EXPECT_EQ(found[!is_swapped], pair.of_second) << pair.name;
                EXPECT_TRUE(found[2].empty()) << pair.name;
            }
}

TEST(Dependences, HaveTheNumbersThatShowThem) {
    const std::vector<Entrant> one = {{service}, {goal_of(Aim::share, 30)}, {others}};
    const auto found = dependences(one, {});
    ASSERT_EQ(found.size(), 1U);
    // Beside a turn of the service of 16.103 ms, three switches and the shortest turn of the others
    // take 0.385 ms, and the share has 30 % of the round.
    const double round = (16.103 + 0.385) / 0.7;
    EXPECT_NEAR(static_cast<double>(found[0].room) / point, 100 - 30 - 100 * 0.385 / round, 0.01);
    EXPECT_NEAR(milliseconds(found[0].turn), 0.3 * round, 0.01);
    const std::vector<Entrant> two = {{within(ms)}, {turns_of(3 * ms)}};
    ASSERT_EQ(dependences(two, {}).size(), 1U);
    EXPECT_EQ(dependences(two, {})[0].turn, 3 * ms + Costs().rest);
}

TEST(Dependences, OfOthersAndOnThem) {
    const std::vector<Entrant> served = {{goal_of(Aim::share, 30)}, {service, 0}};
    ASSERT_EQ(dependences(served, {}).size(), 1U);
    EXPECT_EQ(dependences(served, {})[0].tenant, 1U);
    // Two services have the caps of both.
    for (const auto &[cap, count] : {std::pair{30, 2U}, {35, 4U}}) {
        const std::vector<Entrant> all = {{goal_of(Aim::latency, 0, cap)},
                                          {goal_of(Aim::latency, 0, cap)},
                                          {goal_of(Aim::share, 30)},
                                          {others}};
        EXPECT_EQ(dependences(all, {}).size(), count) << cap;
    }
}

class BesideABusyService : public testing::TestWithParam<std::tuple<int, int, int>> {};

/// A service that always has work leaves a share its part in every second, with a cap or without,
/// and has the rest but for what others take with their shortest turns.
TEST_P(BesideABusyService, SharesAreKept) {
    const auto [percent, cap, tasks] = GetParam();
    simulated::Governed run({},
                            {goal_of(Aim::share, percent), goal_of(Aim::latency, 0, cap), others});
    run.add(0, simulated::always());
    run.add(1, simulated::always());
    for (int n = 0; n < tasks; n++)
        run.add(2, simulated::always());
    run.until(6 * second);
    // The governor gives back all but half a point of the time that turns lose. With three others and
    // a cap, own progress is below the share by up to 1.03 points.
    for (const EpochRecord &record : run.records)
        if (const Balance &last = record.tenants[0].second; record.end >= 2 * second) {
            EXPECT_GE(last.progress, scaled(last.time, percent * point - 11 * point / 10, whole))
                << record.end;
        }
    if (cap == 0) {
        EXPECT_GT(run.points(1, 2 * second), 100 - percent - 5 - 2 * tasks);
    }
}

INSTANTIATE_TEST_SUITE_P(All, BesideABusyService,
                         testing::Combine(testing::Values(10, 20, 50, 70),
                                          testing::Values(0, 30, 75), testing::Values(1, 3)));
/// Rounds beside a service are short, and as long as it takes to keep what was promised.
TEST(BesideAnIdleService, PromisesAreKept) {
    for (const int percent : {80, 90})
        for (const int tasks : {1, 3}) {
            simulated::Governed run({}, {service, goal_of(Aim::share, percent), others});
            run.add(0, simulated::every(second, ms));
            run.add(1, simulated::always());
            for (int n = 0; n < tasks; n++)
                run.add(2, simulated::always());
            run.until(6 * second);
            EXPECT_TRUE(shares::is_kept(run.points(1, second), percent, shares::most_repaid))
                << tasks;
        }
    simulated::Governed fixed({}, {service, goal_of(Aim::share, 30), turns_of(5 * ms)});
    fixed.add(0, simulated::every(second, ms));
    fixed.add(1, simulated::always());
    fixed.add(2, simulated::always());
    fixed.until(6 * second);
    EXPECT_GE(fixed.points(1, second), 29) << "what is left over is the share's, too";
}

} // namespace
