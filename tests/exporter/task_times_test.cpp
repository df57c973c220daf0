// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tools/exporter/task_times.hpp"

#include <gtest/gtest.h>

#include "units.hpp"

namespace nvdebug::exporter {
namespace {

Holder process(std::uint32_t pid, std::uint32_t context = 1) {
    return {.pid = pid, .context = context};
}

Turn turn(std::uint32_t pid, std::uint64_t begin, std::uint64_t end, bool whole = true,
          std::optional<std::uint64_t> gap = {}) {
    return {process(pid, static_cast<std::uint32_t>(begin)), begin, end, whole, gap};
}

const Times &of(const TaskTimes &times, std::uint32_t pid) {
    return times.tasks().at(Holder{.pid = pid});
}

TEST(TaskTimes, AddUpByProcess) {
    TaskTimes times(8);
    times.add(turn(1, 0, 2 * ms));
    times.add(turn(2, 3 * ms, 4 * ms, true, 1 * ms));
    times.add(turn(1, 4 * ms + 84 * us, 6 * ms, true, 84 * us));
    times.add(turn(1, 6 * ms, 9 * ms, false));
    ASSERT_EQ(times.tasks().size(), 2U);
    EXPECT_EQ(of(times, 1).ns, 7 * ms - 84 * us);
    EXPECT_EQ(of(times, 1).away_ns, 2 * ms + 84 * us);
    EXPECT_EQ(of(times, 1).slices.count(), 2U) << "not the one whose end was not seen";
    EXPECT_EQ(of(times, 2).slices.sum(), 1 * ms);
    EXPECT_EQ(times.switches().count(), 2U);
    EXPECT_EQ(times.switches().max(), 1 * ms);
}

TEST(TaskTimes, SavingIsCountedApart) {
    TaskTimes times(8);
    times.add(turn(1, 0, 2 * ms + 107 * us), 2 * ms);
    times.add(turn(1, 4 * ms, 5 * ms), 2 * ms);
    EXPECT_EQ(of(times, 1).ns, 3 * ms);
    EXPECT_EQ(of(times, 1).saving_ns, 107 * us);
    EXPECT_EQ(of(times, 1).slices.max(), 2 * ms + 107 * us);
}

TEST(TaskTimes, LongGapsAreNoSwitches) {
    TaskTimes times(8);
    times.add(turn(1, 0, 1, true, Tally::longest_switch_ns + 1));
    EXPECT_EQ(times.switches().count(), 0U);
}

TEST(TaskTimes, FallBackToTsgsWithoutAProcess) {
    TaskTimes times(8);
    const Holder tsg{.context = 5, .runlist = 0, .tsg = 7};
    times.add({tsg, 0, ms, true, {}});
    EXPECT_TRUE(times.tasks().contains(Holder{.runlist = 0, .tsg = 7}));
}

TEST(TaskTimes, MissingTurnsAddNoTimeAway) {
    TaskTimes times(8);
    times.add(turn(1, 0, ms));
    times.lose();
    times.add(turn(1, 90 * ms, 91 * ms));
    EXPECT_EQ(of(times, 1).away_ns, 0U);
    times.add(turn(1, 93 * ms, 94 * ms));
    EXPECT_EQ(of(times, 1).away_ns, 2 * ms);
}

TEST(TaskTimes, AreOfABoundedNumber) {
    TaskTimes times(2);
    for (std::uint32_t pid = 1; pid <= 5; pid++)
        times.add(turn(pid, pid * ms, (pid + 1) * ms));
    times.add(turn(2, 9 * ms, 10 * ms));
    EXPECT_EQ(times.tasks().size(), 2U);
    EXPECT_EQ(of(times, 2).ns, 2 * ms);
    EXPECT_EQ(times.others().ns, 3 * ms);
    EXPECT_EQ(times.others().slices.count(), 3U);
    times.forget_if([](const Holder &who) { return who.pid == 1U; });
    times.add(turn(5, 11 * ms, 12 * ms));
    EXPECT_EQ(of(times, 5).ns, ms) << "there was room again";
    times.add(turn(1, 13 * ms, 14 * ms));
    EXPECT_EQ(times.others().ns, 4 * ms);
}

TEST(TaskTimes, ForgottenTaskWasNotAwayWhenItReturns) {
    TaskTimes times(2);
    times.add(turn(1, 0, ms));
    times.forget_if([](const Holder &) { return true; });
    times.add(turn(1, 90 * ms, 91 * ms));
    EXPECT_EQ(of(times, 1).away_ns, 0U);
}

} // namespace
} // namespace nvdebug::exporter
