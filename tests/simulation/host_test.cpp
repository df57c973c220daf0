// SPDX-License-Identifier: MIT OR GPL-2.0
// Turns of two TSGs, worked out by hand: timeslices of 2 ms, 80 us for a switch, 123 us from the
// end of a timeslice to that of the turn, 62 us at the start of a turn of a TSG that was
// interrupted.
#include <algorithm>
#include <gtest/gtest.h>

#include "lib/simulation/host.hpp"

namespace {

using qos::us;
using simulation::Gpus;
using simulation::Host;
using simulation::never;
using simulation::Ns;
using simulation::Turn;

struct HostTurns : testing::Test {
    Host host{Gpus{.timeslice_unit = 1000}};
    const std::size_t a = host.add(), b = host.add();

    void run_until(Ns end) {
        while (host.due() < end)
            host.step(host.due());
    }
    /// Returns turns in microseconds.
    std::vector<Turn> turns() {
        std::vector<Turn> all = host.take_turns();
        for (Turn &turn : all) {
            turn.begin /= us;
            turn.end /= us;
        }
        return all;
    }
    Turn turn(std::size_t tsg, Ns begin, Ns end) { return {tsg, begin, end, true}; }
};

using Turns = std::vector<Turn>;

TEST_F(HostTurns, TwoWithWorkAlternate) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    run_until(7000 * us);
    EXPECT_EQ(turns(), (Turns{turn(a, 0, 2123), turn(b, 2203, 4326), turn(a, 4406, 6529)}));
}

TEST_F(HostTurns, LateEndMakesNoProgress) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    run_until(2000 * us);
    EXPECT_EQ(host.progressing(), a);
    run_until(2001 * us);
    EXPECT_EQ(host.progressing(), std::nullopt);
    EXPECT_EQ(host.holder(), a);
}

TEST_F(HostTurns, SwitchHasNoHolder) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    run_until(2150 * us);
    EXPECT_EQ(host.holder(), std::nullopt);
    EXPECT_EQ(host.due(), 2203 * us);
}

TEST_F(HostTurns, InterruptedTsgResumesLater) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    run_until(4407 * us);
    EXPECT_EQ(host.holder(), a);
    EXPECT_EQ(host.progressing(), std::nullopt);
    EXPECT_EQ(host.due(), 4468 * us);
    run_until(4469 * us);
    EXPECT_EQ(host.progressing(), a);
}

TEST_F(HostTurns, TsgWithoutWorkGivesWayAtOnce) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    host.set_work(a, false, 500 * us);
    run_until(581 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 0, 500)});
    EXPECT_EQ(host.progressing(), b);
    // It was not interrupted, so that it makes progress at once.
    host.set_work(a, true, 600 * us);
    run_until(2784 * us);
    EXPECT_EQ(turns(), Turns{turn(b, 580, 2703)});
    EXPECT_EQ(host.progressing(), a);
}

TEST_F(HostTurns, AloneGoesOnUntilAnotherHasWork) {
    host.set_work(a, true, 0);
    EXPECT_EQ(host.due(), never);
    host.set_work(b, true, 10'000 * us);
    run_until(10'204 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 0, 10'123)});
    EXPECT_EQ(host.holder(), b);
}

TEST_F(HostTurns, IdleTsgStaysUntilAnotherHasWork) {
    host.set_work(a, true, 0);
    host.set_work(a, false, 300 * us);
    EXPECT_EQ(host.holder(), std::nullopt);
    host.set_work(a, true, 350 * us);
    EXPECT_EQ(host.progressing(), a); // without a switch
    host.set_work(a, false, 400 * us);
    host.set_work(b, true, 700 * us);
    run_until(781 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 0, 700)});
    EXPECT_EQ(host.holder(), b);
}

TEST_F(HostTurns, PauseStopsAtOnceAndInterrupts) {
    host.set_work(a, true, 0);
    host.set_paused(a, true, 1000 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 0, 1000)});
    EXPECT_EQ(host.due(), never);
    host.set_paused(a, false, 5000 * us);
    EXPECT_EQ(host.holder(), a);
    EXPECT_EQ(host.due(), 5062 * us);
}

TEST_F(HostTurns, PausedTsgIsPassedOver) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    host.set_paused(b, true, 100 * us);
    run_until(9000 * us);
    EXPECT_EQ(turns(), Turns());
    EXPECT_EQ(host.holder(), a);
}

TEST_F(HostTurns, NewTimesliceBeginsAtTheChange) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    host.set_timeslice(a, 3000, 1000 * us);
    run_until(5000 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 0, 4123)});
}

TEST_F(HostTurns, TimesliceHasTheDriversUnit) {
    Host longer{Gpus()};
    longer.set_work(longer.add(), true, 0);
    longer.set_work(longer.add(), true, 0);
    EXPECT_EQ(longer.due(), 2'048'000);
}

TEST_F(HostTurns, SplitTurnGoesOn) {
    host.set_work(a, true, 0);
    EXPECT_EQ(host.split(400 * us), (Turn{a, 0, 400 * us, false}));
    EXPECT_EQ(host.split(400 * us), std::nullopt);
    host.set_work(b, true, 500 * us);
    run_until(3000 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 400, 2123)});
}

TEST_F(HostTurns, RemovedTsgLeavesAtOnce) {
    host.set_work(a, true, 0);
    host.set_work(b, true, 0);
    host.remove(a, 100 * us);
    run_until(9000 * us);
    EXPECT_EQ(turns(), Turns{turn(a, 0, 100)});
    EXPECT_EQ(host.holder(), b);
    EXPECT_EQ(host.due(), never);
}

TEST_F(HostTurns, ThreeAreServedInTheirOrder) {
    const std::size_t c = host.add();
    for (const std::size_t tsg : {c, b, a})
        host.set_work(tsg, true, 0);
    run_until(8000 * us);
    const Turns all = turns();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].tsg, c); // it was alone
    EXPECT_EQ(all[1].tsg, a);
    EXPECT_EQ(all[2].tsg, b);
}

/// Timeslices of 2 ms follow each other from the beginning of the turn on.
struct HostSlicesFollow : testing::Test {
    Host host{Gpus{.timeslice_unit = 1000, .slices_follow = true}};
    const std::size_t a = host.add(), b = host.add();

    HostSlicesFollow() { host.set_work(a, true, 0); }
    /// Returns when the turn of `a` ends, in microseconds.
    Ns end_of_turn() {
        while (host.holder() == a)
            host.step(host.due());
        return host.take_turns().at(0).end / us;
    }
};

TEST_F(HostSlicesFollow, NewWorkWaitsForTheEndOfTheTimeslice) {
    host.set_work(b, true, 5000 * us);
    EXPECT_EQ(end_of_turn(), 6123);
}

TEST_F(HostSlicesFollow, TheFirstTimesliceEndsInTime) {
    host.set_work(b, true, 1500 * us);
    EXPECT_EQ(end_of_turn(), 2123);
}

TEST_F(HostSlicesFollow, ResumedTsgWaitsForTheEndOfTheTimeslice) {
    host.set_work(b, true, 100 * us);
    host.set_paused(b, true, 200 * us);
    host.set_paused(b, false, 4500 * us);
    EXPECT_EQ(end_of_turn(), 6123);
}

TEST_F(HostSlicesFollow, WorkThatEndsEarlierLeavesTheTimeslicesAsTheyAre) {
    host.set_work(b, true, 2500 * us);
    host.set_work(b, false, 2600 * us);
    host.set_work(b, true, 7000 * us);
    EXPECT_EQ(end_of_turn(), 8123);
}

TEST_F(HostSlicesFollow, WorkAtTheEndOfATimesliceDoesNotLengthenTheTurn) {
    const std::size_t c = host.add();
    host.set_work(b, true, 500 * us);
    host.set_work(c, true, 2000 * us);
    EXPECT_EQ(end_of_turn(), 2123);
}

} // namespace
