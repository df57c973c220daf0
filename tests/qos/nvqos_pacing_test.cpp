// SPDX-License-Identifier: MIT OR GPL-2.0
// Launches by the numbers that pages show: how they are counted, which tasks are held for a speed,
// and how long requests of services took. There are no pages and no thread.
#include "tools/nvqos/keep/pacing.hpp"
#include "tools/nvqos/keep/services.hpp"

#include <gtest/gtest.h>

namespace nvqos {
namespace {

using qos::ms;

constexpr std::uint64_t second_us = 1'000'000;

TEST(LaunchCount, CountsFromTheFirstReadOn) {
    LaunchCount count;
    const auto first = count.read({100, 90, 0}, false, second_us);
    EXPECT_EQ(first.launched, 10U) << "what is in flight counts when it ends";
    EXPECT_EQ(first.ended, 0U);
    EXPECT_TRUE(first.waits);
    EXPECT_FALSE(count.is_drained());
    const auto second = count.read({105, 105, 0}, false, second_us + 1);
    EXPECT_EQ(second.launched, 5U);
    EXPECT_EQ(second.ended, 15U);
    EXPECT_TRUE(count.is_drained());
    EXPECT_EQ(count.in_flight(), 0U);
}

TEST(LaunchCount, NumbersDoNotGoBack) {
    LaunchCount count;
    count.read({100, 100, 0}, false, second_us);
    const auto back = count.read({50, 20, 0}, false, second_us + 1);
    EXPECT_EQ(back.launched, 0U);
    EXPECT_EQ(back.ended, 0U);
    const auto again = count.read({101, 101, 0}, false, second_us + 2);
    EXPECT_EQ(again.launched, 1U);
    EXPECT_EQ(again.ended, 1U);
}

/// The task launched between the two reads of its page, on a stream whose ends are not seen.
TEST(LaunchCount, UnseenEndsBeforeTheirLaunchesDoNotWrapAround) {
    LaunchCount count;
    count.read({0, 0, 0}, false, second_us);
    const auto between = count.read({5, 0, 0, 6}, false, second_us + 1);
    EXPECT_EQ(between.launched, 0U);
    EXPECT_EQ(count.in_flight(), 0U);
    EXPECT_TRUE(count.is_drained());
    const auto later = count.read({9, 3, 0, 6}, false, second_us + 2);
    EXPECT_EQ(later.launched, 3U);
    EXPECT_EQ(later.ended, 3U);
}

TEST(LaunchCount, OpenLaunchesOfAnIdleTaskHaveEnded) {
    LaunchCount count;
    count.read({0, 0, 0}, false, second_us);
    EXPECT_EQ(count.read({8, 0, 0}, false, second_us).ended, 0U);
    EXPECT_EQ(count.in_flight(), 8U);
    EXPECT_TRUE(count.has_work(second_us + 1));
    EXPECT_EQ(count.read({8, 0, 0}, false, 2 * second_us).ended, 0U);
    const auto later = count.read({8, 0, 0}, false, 2 * second_us + 1);
    EXPECT_EQ(later.ended, 8U) << "idle for longer than a second";
    EXPECT_FALSE(later.waits);
    EXPECT_FALSE(count.has_work(2 * second_us + 1));
}

TEST(LaunchCount, AHeldTaskHasWork) {
    LaunchCount count;
    count.read({8, 8, 0}, true, second_us);
    count.read({8, 8, 0}, true, 3 * second_us);
    EXPECT_TRUE(count.has_work(3 * second_us + 1));
}

TEST(Pacing, OtherSpeedsBeginAgain) {
    Pacing pacing;
    EXPECT_FALSE(pacing.is_on());
    EXPECT_FALSE(pacing.set({}, false, 0)) << "nothing has changed";
    const std::vector<Pacing::Speed> speeds = {{2, 50 * qos::point}};
    EXPECT_TRUE(pacing.set(speeds, false, 0));
    EXPECT_TRUE(pacing.is_on());
    EXPECT_FALSE(pacing.set(speeds, false, ms));
    EXPECT_FALSE(pacing.wants_division());
    EXPECT_TRUE(pacing.set(speeds, true, ms));
    EXPECT_TRUE(pacing.wants_division());
    EXPECT_TRUE(pacing.pace(2));
    EXPECT_FALSE(pacing.pace(0)) << "it has no speed";
    EXPECT_TRUE(pacing.set({{2, 40 * qos::point}, {3, 20 * qos::point}}, true, ms));
    EXPECT_FALSE(pacing.wants_division()) << "there are two speeds";
}

/// A tenant with a goal of half its speed is slowed by its neighbour, which is then held.
TEST(Pacing, OthersAreHeldForATenantThatIsBehind) {
    Pacing pacing;
    ASSERT_TRUE(pacing.set({{1, 50 * qos::point}}, false, 0));
    LaunchCount own, other;
    std::uint64_t launched = 0, launched_beside = 0;
    bool was_held = false;
    own.read({0, 0, 0}, false, 1);
    other.read({0, 0, 0}, false, 1);
    for (qos::Ns now = 4 * ms; now < 3 * qos::second; now += 4 * ms) {
        const auto us = static_cast<std::uint64_t>(now / qos::us);
        const bool is_held = pacing.holds_others();
        was_held = was_held || is_held;
        launched += is_held ? 20 : 2;
        launched_beside += is_held ? 0 : 20;
        pacing.begin_step();
        pacing.add(1, own.read({launched + 1, launched, 0}, false, us), now);
        pacing.add_of_others(other.read({launched_beside, launched_beside, 0}, is_held, us));
        pacing.step(now, true, true);
    }
    EXPECT_TRUE(was_held);
    ASSERT_TRUE(pacing.pace(1)->speed);
    EXPECT_GE(*pacing.pace(1)->speed, 45 * qos::point) << "a tenth of it beside the neighbour";
    EXPECT_NEAR(pacing.pace(1)->alone_per_s, 5000, 500);
}

TEST(Services, TakeRequestsThatHaveEnded) {
    Services services;
    services.begin_list();
    services.add_process(1, 5 * ms, true);
    services.end_list();
    nvtaskset::Work work{};
    RequestsRead read;
    work.begun = 1;
    EXPECT_TRUE(services.read(1, work, read, second_us));
    EXPECT_FALSE(services.read(1, work, read, second_us + 100'001)) << "it has no end";
    work.took_us[0] = 3'000;
    work.finished = 1;
    EXPECT_FALSE(services.read(1, work, read, second_us + 100'002));
    work.begun = work.finished = 2;
    work.took_us[1] = 9'000;
    EXPECT_FALSE(services.read(1, work, read, second_us + 100'003));
    const auto found = services.requests(1, second_us + 100'004);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->recent, 2U);
    EXPECT_EQ(found->late, 1U);
    EXPECT_EQ(services.requests(1, 3 * second_us)->recent, 0U);
    EXPECT_FALSE(services.requests(2, second_us)) << "it is no service";
}

TEST(Services, KeepTimesWhileTheGoalIsTheSame) {
    Services services;
    const auto list = [&](qos::Ns p99, bool second_shows) {
        services.begin_list();
        services.add_process(1, p99, true);
        services.add_process(1, p99, second_shows);
        services.end_list();
    };
    list(5 * ms, true);
    nvtaskset::Work work{};
    RequestsRead read;
    work.begun = work.finished = 1;
    work.took_us[0] = 1'000;
    services.read(1, work, read, second_us);
    list(5 * ms, true);
    EXPECT_EQ(services.requests(1, second_us)->recent, 1U);
    list(5 * ms, false);
    EXPECT_FALSE(services.requests(1, second_us)) << "one process does not show its requests";
    list(6 * ms, true);
    EXPECT_EQ(services.requests(1, second_us)->recent, 0U) << "another goal";
}

} // namespace
} // namespace nvqos
