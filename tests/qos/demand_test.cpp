// SPDX-License-Identifier: MIT OR GPL-2.0
// Which tenant had work, from turns worked out by hand.
#include "lib/qos/demand.hpp"

#include <gtest/gtest.h>

namespace {

using namespace qos;

constexpr Ns slice = 2 * ms, long_round = 10 * ms;

TEST(Demand, WaitsAfterATurnThatTheTimesliceEnded) {
    Demand demand;
    demand.add({0, 1, 0, 2100 * us, true}, slice, long_round);
    demand.add({1, 2, 2200 * us, 4300 * us, true}, slice, long_round);
    demand.add({0, 1, 4400 * us, 6500 * us, true}, slice, long_round);
    const auto seen = demand.take(2);
    EXPECT_EQ(seen[0], (Observation{4200 * us, 6500 * us, 2}));
    EXPECT_EQ(seen[1], (Observation{2100 * us, 2100 * us, 1}));
    EXPECT_EQ(demand.take(2)[0], Observation{});
}

TEST(Demand, HasNoWorkAfterATurnThatItGaveUp) {
    Demand demand;
    demand.add({0, 1, 0, 300 * us, true}, slice, long_round);
    demand.add({0, 1, 4400 * us, 4700 * us, true}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0], (Observation{600 * us, 600 * us, 2}));
}

TEST(Demand, HasNoWorkWhereItComesBackLate) {
    Demand demand;
    demand.add({0, 1, 0, 2100 * us, true}, slice, long_round);
    demand.add({0, 1, 13 * ms, 15 * ms, true}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0].backlogged, 4100 * us);
}

TEST(Demand, KnowsNothingWithoutATimesliceOrAfterALoss) {
    Demand demand;
    demand.add({0, 1, 0, 2 * ms, true}, std::nullopt, long_round);
    demand.add({0, 1, 3 * ms, 5 * ms, true}, slice, long_round);
    demand.lose();
    demand.add({0, 1, 6 * ms, 8 * ms, true}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0].backlogged, 6 * ms);
}

TEST(Demand, ATurnMayGoOnOverEpochs) {
    Demand demand;
    demand.add({0, 1, 0, ms, false}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0], (Observation{ms, ms, 0}));
    demand.add({0, 1, ms, 2100 * us, true}, slice, long_round);
    demand.add({0, 1, 4 * ms, 5 * ms, true}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0], (Observation{2100 * us, 4 * ms, 2}))
        << "it waited: its turn had its length";
}

TEST(Demand, TwoTasksOfATenantWaitOnce) {
    Demand demand;
    demand.add({0, 1, 0, 2 * ms, true}, slice, long_round);
    demand.add({0, 2, 2 * ms, 4 * ms, true}, slice, long_round);
    demand.add({0, 1, 6 * ms, 8 * ms, true}, slice, long_round);
    demand.add({0, 2, 8 * ms, 10 * ms, true}, slice, long_round);
    EXPECT_EQ(demand.take(1)[0], (Observation{8 * ms, 10 * ms, 4}));
}

} // namespace
