// SPDX-License-Identifier: MIT OR GPL-2.0
// What a model of a GPU needs of the quota machine beside offers: blocks that come back, and cycles
// in which nothing happens.
#include <gtest/gtest.h>

#include "lab/quotas/machine/machine.hpp"

namespace qos {
namespace {

/** A QoS kernel with 64 instructions an epoch, and one without a goal. */
Machine begun(Scheme scheme, Readings readings = {}) {
    Machine machine({.sms = 1,
                     .slots = 2,
                     .epoch = 10,
                     .kernels = {{.qos = true, .goal = fraction(32, 5)}, {}}},
                    scheme, readings);
    machine.boundary(Table(1, 2, 1));
    return machine;
}

TEST(Machine, LetsAKernelThatComesBackGoOn) {
    Machine machine = begun(Scheme::rollover);
    EXPECT_EQ(machine.offer(0, 0, 32), 1);
    machine.leave(0, 0);
    EXPECT_EQ(machine.offer(0, 0, 32), 0);
    machine.end_cycle();
    machine.come_back(0, 0);
    EXPECT_EQ(machine.counter(0, 0), 32) << "as it was";
    EXPECT_EQ(machine.offer(0, 0, 32), 1);
    machine.end_cycle();
    EXPECT_EQ(machine.offer(0, 0, 32), 0);
}

TEST(Machine, PassesCyclesAsIfEachHadEnded) {
    for (const Charge charge : {Charge::issue, Charge::complete}) {
        for (const std::int64_t cycles : {1, 3, 7, 9}) {
            Machine one = begun(Scheme::elastic, {.charge = charge, .latency = 4}), other = one;
            for (Machine *each : {&one, &other}) {
                each->offer(0, 0, 32, 2);
                each->end_cycle();
                each->offer(0, 1, 32, 1);
            }
            std::int64_t ended = 0;
            for (; ended < cycles && !other.boundary_is_due(); ended++)
                other.end_cycle();
            EXPECT_EQ(one.pass(cycles), ended);
            EXPECT_EQ(one.cycle(), other.cycle());
            for (const std::size_t k : {0u, 1u})
                EXPECT_EQ(one.counter(0, k), other.counter(0, k)) << cycles << " cycles";
        }
    }
}

TEST(Machine, StopsAtABoundary) {
    Machine machine = begun(Scheme::naive);
    EXPECT_EQ(machine.pass(100), 10);
    EXPECT_TRUE(machine.boundary_is_due());
    EXPECT_EQ(machine.pass(5), 0);
    machine.boundary(Table(1, 2, 1));
    EXPECT_EQ(machine.pass(5), 5);
    EXPECT_FALSE(machine.is_stirred(0));
}

} // namespace
} // namespace qos
