// SPDX-License-Identifier: MIT OR GPL-2.0
// Busy periods of a service, from turns worked out by hand.
#include "lib/qos/periods.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>

#include "lib/qos/governor.hpp"

namespace {

using namespace qos;

/// A service of tenant 0 and a neighbour of tenant 1, whose turns follow each other.
class ServiceTurns {
  public:
    void serve(Ns length) { add(0, length, true); }
    /// The neighbour has the GPU; @p ends: the service comes then.
    void leave(Ns length, bool ends = true) { add(1, length, ends); }
    /// Serves so many steps of 7 ms, with the neighbour in each pause.
    void steps(int count, Ns pause = 600 * us) {
        for (int n = 0; n < count; n++) {
            serve(7 * ms);
            leave(pause);
        }
        serve(1 * ms);
    }
    void step(bool may_hold = true) {
        periods.step(now, may_hold ? Periods::returns_for_hold : 0, true);
    }
    /// Lets time pass in which no turn ends.
    void pass(Ns time, bool seen) {
        now += time;
        periods.step(now, Periods::returns_for_hold, seen);
    }
    void begin_period() {
        steps(3);
        step();
        ASSERT_TRUE(periods.holds());
    }
    void begin_probe() {
        begin_period();
        pass(Periods::probe_every, false);
        ASSERT_FALSE(periods.holds());
    }

    Periods periods;
    Ns now = second;

  private:
    void add(std::size_t tenant, Ns length, bool ends) {
        const Ns begin = now + 80 * us;
        now = begin + length;
        periods.add({tenant, tenant, begin, now, ends}, tenant == 0);
    }
};

TEST(Periods, BeginWithTheThirdReturnInARow) {
    ServiceTurns turns;
    turns.steps(2);
    turns.step();
    EXPECT_FALSE(turns.periods.holds());
    turns.steps(1);
    turns.step();
    EXPECT_TRUE(turns.periods.holds());
}

TEST(Periods, DoNotBeginForRequestsThatAreApart) {
    ServiceTurns turns;
    turns.steps(20, 3 * ms);
    turns.step();
    EXPECT_FALSE(turns.periods.holds());
    EXPECT_EQ(turns.periods.due(), Periods::never) << "epochs are enough for such a service";
}

TEST(Periods, AreCountedAnewAfterALongPause) {
    ServiceTurns turns;
    turns.steps(2);
    turns.leave(5 * ms);
    turns.steps(1);
    turns.step();
    EXPECT_FALSE(turns.periods.holds());
}

TEST(Periods, DoNotBeginAfterTheServiceHasLeft) {
    ServiceTurns turns;
    turns.steps(5);
    turns.leave(30 * ms, false);
    turns.step();
    EXPECT_FALSE(turns.periods.holds());
}

TEST(Periods, DoNotBeginWhereNobodyMayBePaused) {
    ServiceTurns turns;
    turns.steps(5);
    turns.step(false);
    EXPECT_FALSE(turns.periods.holds());
}

TEST(Periods, EndAtOnceWhereNobodyMayBePausedAnyMore) {
    ServiceTurns turns;
    turns.begin_period();
    turns.step(false);
    EXPECT_FALSE(turns.periods.holds());
}

TEST(Probe, ComesSoonInAPeriod) {
    ServiceTurns turns;
    turns.begin_period();
    EXPECT_EQ(turns.periods.due(), turns.now + Periods::first_probe);
    EXPECT_FALSE(turns.periods.needs_turns(turns.now));
    turns.pass(Periods::first_probe - 1, false);
    EXPECT_TRUE(turns.periods.holds());
    turns.pass(1, false);
    EXPECT_FALSE(turns.periods.holds());
    EXPECT_TRUE(turns.periods.needs_turns(turns.now + Periods::look_in_probe));
}

/// The neighbours of a service wait for no longer after a period than the period has lasted.
TEST(Probe, ComesLaterInAnOlderPeriod) {
    ServiceTurns turns;
    turns.begin_period();
    const Ns began = turns.now;
    for (int n = 0; n < 10; n++) {
        const Ns age = turns.now - began;
        EXPECT_EQ(turns.periods.due() - turns.now,
                  std::clamp(age, Periods::first_probe, Periods::probe_every));
        turns.pass(turns.periods.due() - turns.now, false);
        ASSERT_FALSE(turns.periods.holds());
        turns.steps(1);
        turns.step();
        ASSERT_TRUE(turns.periods.holds());
    }
    EXPECT_EQ(turns.periods.due() - turns.now, Periods::probe_every);
}

TEST(Probe, IsOverWhenTheServiceComesBackSoon) {
    ServiceTurns turns;
    turns.begin_probe();
    turns.serve(5 * ms);
    turns.step();
    EXPECT_FALSE(turns.periods.holds()) << "the neighbour has not come yet";
    turns.leave(600 * us);
    turns.serve(1 * ms);
    turns.step();
    EXPECT_TRUE(turns.periods.holds());
}

TEST(Probe, EndsThePeriodWhenTheServiceStaysAway) {
    ServiceTurns turns;
    turns.begin_probe();
    turns.serve(5 * ms);
    turns.leave(1500 * us, false);
    turns.step();
    EXPECT_LT(turns.periods.due(), turns.now + 2 * ms) << "it may still come back";
    turns.leave(1500 * us, false);
    turns.step();
    turns.serve(1 * ms);
    turns.step();
    EXPECT_FALSE(turns.periods.holds()) << "that is the first step of another period";
    EXPECT_EQ(turns.periods.due(), turns.now + Periods::look_every);
}

TEST(Probe, EndsThePeriodWhenNoNeighbourHasWork) {
    ServiceTurns turns;
    turns.begin_probe();
    turns.pass(Periods::longest_probe - 1, true);
    EXPECT_EQ(turns.periods.due(), turns.now + Periods::look_in_probe);
    turns.pass(1, true);
    EXPECT_EQ(turns.periods.due(), turns.now + Periods::look_every);
}

TEST(Probe, EndsThePeriodWhenTurnsAreMissing) {
    ServiceTurns turns;
    turns.begin_probe();
    turns.periods.lose();
    turns.leave(5 * ms, false);
    turns.pass(Periods::longest_probe, true);
    EXPECT_FALSE(turns.periods.holds());
    EXPECT_EQ(turns.periods.due(), turns.now + Periods::look_every);
}

TEST(Periods, AreLookedForLessOftenOnSeveralGpus) {
    ServiceTurns turns;
    turns.begin_period();
    for (const int returns : {Periods::returns_for_hold_on_several, Periods::returns_for_hold, 0}) {
        SCOPED_TRACE(returns);
        turns.now += Periods::longest_probe;
        turns.periods.mark(false);
        turns.periods.step(turns.now, returns, true);
        ASSERT_FALSE(turns.periods.holds());
        EXPECT_EQ(turns.periods.due() - turns.now, returns == Periods::returns_for_hold_on_several
                                                       ? Periods::look_every_on_several
                                                       : Periods::look_every);
    }
}

TEST(Periods, AreForgottenAfterAWhile) {
    ServiceTurns turns;
    turns.begin_probe();
    turns.pass(Periods::longest_probe, true);
    EXPECT_TRUE(turns.periods.has_period());
    turns.pass(Periods::remembered, true);
    EXPECT_FALSE(turns.periods.has_period());
    EXPECT_EQ(turns.periods.due(), Periods::never);
}

TEST(MarkedPeriods, BeginAndEndAtOnce) {
    ServiceTurns turns;
    turns.periods.mark(true);
    EXPECT_LE(turns.periods.due(), turns.now);
    turns.pass(0, false);
    EXPECT_TRUE(turns.periods.holds());
    turns.periods.mark(true);
    turns.pass(Periods::probe_every, false);
    EXPECT_TRUE(turns.periods.holds()) << "probes are rare";
    turns.periods.mark(false);
    turns.pass(0, false);
    EXPECT_FALSE(turns.periods.holds());
}

TEST(MarkedPeriods, DoNotBeginWhereNobodyMayBePaused) {
    ServiceTurns turns;
    turns.periods.mark(true);
    turns.step(false);
    EXPECT_FALSE(turns.periods.holds());
    EXPECT_GT(turns.periods.due(), turns.now) << "steps are not due without end";
}

TEST(MarkedPeriods, EndWhenAProbeShowsThatTheServiceIsAway) {
    ServiceTurns turns;
    turns.periods.mark(true);
    turns.pass(0, false);
    turns.serve(ms);
    turns.pass(Periods::probe_every_if_marked, false);
    EXPECT_FALSE(turns.periods.holds());
    turns.leave(5 * ms, false);
    turns.step();
    turns.step();
    EXPECT_FALSE(turns.periods.holds()) << "it never marked that it is idle";
    turns.serve(ms);
    turns.steps(3);
    turns.step();
    EXPECT_TRUE(turns.periods.holds()) << "the record shows another period";
}

TEST(MarkedPeriods, ChangeNoMoreOftenThanTheDriverBears) {
    ServiceTurns turns;
    turns.periods.mark(true);
    turns.pass(0, false);
    int changes = 0;
    bool holds = true;
    for (int n = 0; n < 1000; n++) {
        turns.periods.mark(n % 2 == 1);
        turns.pass(100 * us, false);
        changes += std::exchange(holds, turns.periods.holds()) != holds;
    }
    EXPECT_LE(changes, 100 * ms / Periods::between_marks);
    EXPECT_GT(changes, 0);
}

TEST(MarkedPeriods, GoOnByTheRecordAfterTheLastMark) {
    ServiceTurns turns;
    turns.periods.mark(true);
    turns.pass(0, false);
    turns.periods.mark(std::nullopt);
    turns.pass(0, false);
    EXPECT_TRUE(turns.periods.holds());
    turns.pass(Periods::probe_every, false);
    EXPECT_FALSE(turns.periods.holds());
}

TEST(MarkedPeriods, AreThoseOfAllServicesWithMarks) {
    Governor governor({}, {{.aim = Aim::latency}, {.aim = Aim::latency}, {}}, 0);
    for (std::size_t n = 0; n < 3; n++)
        governor.set_tsgs(n, 1);
    Ns now = 0;
    const auto is_paused = [&](std::optional<bool> a, std::optional<bool> b) {
        governor.mark(0, a);
        governor.mark(1, b);
        governor.step(now += 10 * ms, false);
        return governor.lever(2).paused;
    };
    EXPECT_FALSE(is_paused(false, false));
    EXPECT_TRUE(is_paused(true, false));
    EXPECT_TRUE(is_paused(false, true));
    EXPECT_TRUE(is_paused(true, std::nullopt));
    EXPECT_FALSE(is_paused(false, false));
    EXPECT_FALSE(is_paused(false, std::nullopt)) << "nothing is known of the second one";
}

/// Adds steps of tenant 0 with short turns of tenant 1 in their pauses, until an epoch ends.
void run_steps(Governor &governor, Ns now) {
    for (const Ns end = now + 104 * ms; now < end; now += 8 * ms) {
        governor.add({0, 0, now, now + 7 * ms, true});
        governor.add({1, 1, now + 7080 * us, now + 7600 * us, true});
        if (now + 8 * ms >= end)
            governor.step(now + 8 * ms);
    }
}

/// Returns the levers after an epoch of steps.
/// @param neighbours tasks of tenant 1
std::vector<Lever> levers_of(const std::vector<Goal> &goals, std::int64_t neighbours = 1) {
    Governor governor({}, goals, 0);
    for (std::size_t n = 0; n < goals.size(); n++)
        governor.set_tsgs(n, n == 1 ? neighbours : 1);
    governor.step(0);
    run_steps(governor, 0);
    std::vector<Lever> levers;
    for (std::size_t n = 0; n < goals.size(); n++)
        levers.push_back(governor.lever(n));
    return levers;
}

TEST(GovernorOfPeriods, PausesTheNeighbourAndLengthensTheServicesTimeslice) {
    const auto levers = levers_of({{.aim = Aim::latency}, {}});
    EXPECT_TRUE(levers[1].paused);
    EXPECT_FALSE(levers[0].paused);
    EXPECT_EQ(levers[0].timeslice, Periods::service_slice);
}

TEST(GovernorOfPeriods, PausesNobodyToWhomSomethingIsPromised) {
    for (const Goal &other :
         {Goal{.aim = Aim::share, .part = 20 * point}, Goal{.aim = Aim::speed, .part = 20 * point},
          Goal{.aim = Aim::timeslice, .slice = ms}}) {
        const auto levers = levers_of({{.aim = Aim::latency}, {}, other});
        EXPECT_FALSE(levers[1].paused);
        EXPECT_EQ(levers[0].timeslice, Settings().latency_slice);
    }
}

/// Two services wait for each other's turns, so that these are no longer than before.
TEST(GovernorOfPeriods, KeepsTheTimeslicesOfTwoServices) {
    const auto levers = levers_of({{.aim = Aim::latency}, {}, {.aim = Aim::latency}});
    EXPECT_TRUE(levers[1].paused);
    EXPECT_EQ(levers[0].timeslice, Settings().latency_slice);
}

TEST(GovernorOfPeriods, PausesNobodyBesideTasksOnSeveralGpus) {
    Governor governor({}, {{.aim = Aim::latency}, {}}, 0);
    governor.set_tsgs(0, 1);
    governor.set_tsgs(1, 1);
    governor.set_spans(1, true);
    run_steps(governor, 0);
    EXPECT_FALSE(governor.lever(1).paused);
    governor.set_spans(1, false);
    run_steps(governor, 104 * ms);
    EXPECT_TRUE(governor.lever(1).paused);
}

/// The service has its periods on all of its GPUs at about the same time.
TEST(GovernorOfPeriods, PausesAllNeighboursOfAServiceOnSeveralGpus) {
    for (const bool spans : {false, true}) {
        Governor governor({}, {{.aim = Aim::latency}, {}}, 0);
        governor.set_tsgs(0, 1);
        governor.set_tsgs(1, 1);
        governor.set_spans(0, true);
        governor.set_spans(1, spans);
        run_steps(governor, 0);
        EXPECT_FALSE(governor.lever(1).paused) << "13 steps may be those of a short request";
        run_steps(governor, 104 * ms);
        EXPECT_TRUE(governor.lever(1).paused) << spans;
    }
}

TEST(GovernorOfPeriods, LeavesAServiceWithACapAsItIs) {
    EXPECT_FALSE(levers_of({{.aim = Aim::latency, .cap = 75 * point}, {}})[1].paused);
}

TEST(GovernorOfPeriods, DoesNotPauseManyTasks) {
    const std::vector<Goal> goals = {{.aim = Aim::latency}, {}};
    EXPECT_TRUE(levers_of(goals, Periods::most_neighbours)[1].paused);
    EXPECT_FALSE(levers_of(goals, Periods::most_neighbours + 1)[1].paused);
}

} // namespace
