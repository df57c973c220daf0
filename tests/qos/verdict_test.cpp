// SPDX-License-Identifier: MIT OR GPL-2.0
// Verdicts on seconds of which work and pauses are known within bounds.
#include "lib/qos/verdict.hpp"

#include <gtest/gtest.h>

namespace qos {
namespace {

constexpr Ns an_epoch_of_verdict = 100 * ms;

Goal promise_of(Aim aim, Part percent) {
    return {.aim = aim, .part = percent * point};
}

/// Judges the tenant after 15 seconds of such epochs, in which it had its turns or waited for them.
/// @param used of 100 ms, as the times in the bounds
Verdict verdict_on(const Goal &goal, Ns used, const Bounds &bounds) {
    Ledger ledger;
    for (int n = 0; n < 150; n++)
        ledger.add({.used = used, .backlogged = an_epoch_of_verdict, .bounds = bounds}, used,
                   an_epoch_of_verdict);
    return judge(goal, ledger, 0);
}

TEST(Verdict, LostTimeIsNoProgress) {
    const Goal share = promise_of(Aim::share, 30);
    const auto with = [](Ns least, Ns most) { return Bounds{.lost = {least, most}}; };
    EXPECT_EQ(verdict_on(share, 30 * ms, with(0, ms)), Verdict::kept);
    EXPECT_EQ(verdict_on(share, 30 * ms, with(1100 * us, 1100 * us)), Verdict::missed);
    EXPECT_EQ(verdict_on(share, 30 * ms, with(900 * us, 1100 * us)), Verdict::unseen);
}

/// A tenant that had 20 of 100 ms keeps a share of 60 % if it paused for the rest, and misses it if it
/// waited for the rest.
TEST(Verdict, TimeThatMayBeAPauseIsNoMiss) {
    const Goal share = promise_of(Aim::share, 60), speed = promise_of(Aim::speed, 60);
    const auto with = [](Ns least, Ns most) { return Bounds{.paused = {least, most}}; };
    for (const Goal &goal : {share, speed}) {
        EXPECT_EQ(verdict_on(goal, 20 * ms, with(79 * ms, 79 * ms)), Verdict::kept);
        EXPECT_EQ(verdict_on(goal, 20 * ms, with(0, 10 * ms)), Verdict::missed);
        EXPECT_EQ(verdict_on(goal, 20 * ms, with(0, 79 * ms)), Verdict::unseen);
    }
}

TEST(Verdict, TurnsWithoutWorkAreNoProgress) {
    const Goal share = promise_of(Aim::share, 60);
    const auto with = [](Ns least, Ns most) { return Bounds{.rested = {least, most}}; };
    EXPECT_EQ(verdict_on(share, 61 * ms, with(0, ms)), Verdict::kept);
    EXPECT_EQ(verdict_on(share, 61 * ms, with(3 * ms, 3 * ms)), Verdict::missed);
    EXPECT_EQ(verdict_on(share, 61 * ms, with(0, 10 * ms)), Verdict::unseen);
}

TEST(Verdict, TaskThatLaunchesJustInTimeIsNeverCalledMissed) {
    EXPECT_EQ(verdict_on(promise_of(Aim::share, 60), 20 * ms, {}), Verdict::missed);
    EXPECT_EQ(verdict_on(promise_of(Aim::share, 60), 20 * ms, {.just_in_time = 1}),
              Verdict::unseen);
}

/// The tenant was alone for 50 of its 70 ms. In the other 20 ms it always had work, so it did then.
TEST(Verdict, TimeAloneIsAsTheOtherTurns) {
    const Goal share = promise_of(Aim::share, 60);
    EXPECT_EQ(verdict_on(share, 70 * ms, {.open = 50 * ms}), Verdict::kept);
    EXPECT_EQ(verdict_on(share, 70 * ms, {.paused = {0, 20 * ms}, .open = 50 * ms}),
              Verdict::unseen);
}

} // namespace
} // namespace qos
