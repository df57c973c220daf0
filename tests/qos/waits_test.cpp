// SPDX-License-Identifier: MIT OR GPL-2.0
// Percentiles of waits: against sorted lists, and what counts as a wait.
#include "lib/qos/governor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bursts.hpp"

namespace {

using namespace qos;

TEST(Waits, HasNoPercentileOfFew) {
    Waits waits;
    EXPECT_EQ(waits.quantile(whole / 2), std::nullopt);
    for (int n = 1; n < 100; n++)
        waits.add(n * us);
    EXPECT_EQ(waits.p99(), std::nullopt);
    EXPECT_EQ(waits.count(), 99);
    waits.add(100 * us);
    ASSERT_TRUE(waits.p99());
    EXPECT_GE(*waits.p99(), 99 * us) << "99 of 100 are at most so long";
    EXPECT_LT(*waits.p99(), 100 * us + 1);
    EXPECT_EQ(waits.longest(), 100 * us);
}

TEST(Waits, ShortOnesAreExact) {
    Waits waits;
    for (Ns ns = 0; ns < 128; ns++)
        waits.add(ns);
    for (Ns ns = 1; ns <= 128; ns++)
        EXPECT_EQ(waits.quantile(scaled(ns, whole, 128)), ns - 1);
    EXPECT_EQ(waits.quantile(0), 0);
}

/// Never too short, and too long by 1/64 at most, whatever the lengths.
TEST(Waits, ErrBy1In64) {
    std::mt19937_64 random(11);
    for (const double spread : {1.0, 3.0, 8.0}) {
        Waits waits;
        std::vector<Ns> all;
        std::uniform_real_distribution<double> exponent(3, 3 + spread);
        for (int n = 0; n < 20'000; n++) {
            all.push_back(static_cast<Ns>(std::pow(10, exponent(random))));
            waits.add(all.back());
        }
        std::ranges::sort(all);
        for (const Part part : {whole / 1000, whole / 10, whole / 2, 99 * point, whole}) {
            const Ns exact =
                all[static_cast<std::size_t>(scaled(static_cast<Ns>(all.size()), part, whole)) - 1];
            EXPECT_GE(*waits.quantile(part), exact) << part;
            EXPECT_LE(*waits.quantile(part), exact + exact / 64) << part;
        }
    }
}

/// Each power of two, and its neighbours.
TEST(Waits, HasNoGapsBetweenCounters) {
    for (int bit = 1; bit < 62; bit++)
        for (const Ns more : {-1, 0, 1}) {
            const Ns wait = (Ns{1} << bit) + more;
            Waits waits;
            waits.add(wait);
            waits.add(std::numeric_limits<Ns>::max());
            const Ns found = *waits.quantile(whole / 2);
            EXPECT_GE(found, wait);
            if (bit < 40) {
                EXPECT_LE(found, wait + wait / 64);
            }
        }
}

/// What was not measured is not made longer: a wait below 0 would be a fault of two clocks.
TEST(Waits, BelowNothingIsNothing) {
    Waits waits;
    waits.add(-5);
    EXPECT_EQ(waits.quantile(whole), 0);
}

/// Two tasks that always have work: each waits for the other's timeslice and two switches.
TEST(Waits, AreThoseBetweenTurns) {
    simulation::SharedGpu gpu(simulated::gpus());
    Governor governor({}, {{.weight = 2}, {}}, 0);
    for (std::size_t n = 0; n < 2; n++) {
        gpu.add(simulated::always());
        governor.set_tsgs(n, 1);
    }
    Ns slices[2] = {};
    for (int epoch = 0; epoch < 30; epoch++) {
        for (std::size_t n = 0; n < 2; n++) {
            const Ns units = governor.lever(n).timeslice / simulated::gpus().timeslice_unit;
            slices[n] = units * simulated::gpus().timeslice_unit;
            gpu.change({n, simulation::Request::What::timeslice, units});
        }
        gpu.run_until(gpu.now() + 100 * ms);
        for (const simulation::Turn &turn : gpu.take_turns())
            governor.add({turn.tsg, turn.tsg, turn.begin, turn.end, turn.ends});
        governor.step(gpu.now());
    }
    for (std::size_t n = 0; n < 2; n++) {
        ASSERT_GT(governor.waits(n).count(), 100);
        const Ns wait = slices[1 - n] + simulated::gpus().late + 2 * simulated::gpus().switching;
        EXPECT_GE(*governor.waits(n).p99(), wait - wait / 50);
        EXPECT_LE(*governor.waits(n).p99(), wait + wait / 25);
    }
}

/// A task that had nothing to do did not wait.
TEST(Waits, AreNoneWithoutWork) {
    Demand demand;
    constexpr SliceLength two_ms{2 * ms, second};
    EXPECT_EQ(demand.add({0, 1, 0, ms, true}, two_ms, second), std::nullopt);
    EXPECT_EQ(demand.add({0, 1, 5 * ms, 8 * ms, true}, two_ms, second), std::nullopt);
    EXPECT_EQ(demand.add({0, 1, 9 * ms, 10 * ms, false}, two_ms, second), ms)
        << "its timeslice was over";
    EXPECT_EQ(demand.add({0, 1, 10 * ms, 11 * ms, true}, two_ms, second), std::nullopt)
        << "the same turn";
    EXPECT_EQ(demand.add({0, 1, 5 * second, 6 * second, true}, two_ms, second), std::nullopt)
        << "longer than a round: it was idle";
}

} // namespace
