// SPDX-License-Identifier: MIT OR GPL-2.0
// Parts of the simulation's engine beside plain ones that do the same.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "lib/simulation/agenda.hpp"
#include "lib/simulation/random.hpp"

namespace {

using simulation::Ns;

TEST(MersenneTwister, HasTheNumbersOfTheStandardOne) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5489},
                                     std::uint64_t{0xfedcba9876543210}}) {
        std::mt19937_64 expected(seed);
        simulation::MersenneTwister numbers(seed);
        for (int n = 0; n < 2000; n++)
            ASSERT_EQ(numbers(), expected()) << n;
    }
}

TEST(MersenneTwister, SumsTheUpperHalvesOfItsNextNumbers) {
    std::mt19937_64 expected(7);
    simulation::MersenneTwister numbers(7);
    for (int n = 0; n < 300; n++) {
        // 312 numbers are made at once, so that some sums begin in one block and end in the next.
        for (int k = 0; k < n % 5; k++)
            ASSERT_EQ(numbers(), expected());
        std::int64_t sum = 0;
        for (int k = 0; k < 12; k++)
            sum += static_cast<std::int64_t>(expected() >> 32);
        ASSERT_EQ(numbers.sum_of_halves<12>(), sum) << n;
    }
}

class AgendaOfSlots : public testing::TestWithParam<std::size_t> {};

TEST_P(AgendaOfSlots, HasTheEarliestSlotAndOfEqualOnesTheLowest) {
    std::vector<Ns> times(GetParam(), simulation::never);
    simulation::Agenda agenda(GetParam());
    EXPECT_EQ(agenda.first(), 0U);
    std::mt19937_64 random(3);
    for (int n = 0; n < 3000; n++) {
        const std::size_t slot = random() % GetParam();
        times[slot] = random() % 5 == 0 ? simulation::never : static_cast<Ns>(random() % 20);
        agenda.set(slot, times[slot]);
        const auto first = std::ranges::min_element(times);
        ASSERT_EQ(agenda.first(), static_cast<std::size_t>(first - times.begin()));
        ASSERT_EQ(agenda.first_time(), *first);
    }
}

INSTANTIATE_TEST_SUITE_P(Counts, AgendaOfSlots, testing::Values(1U, 2U, 3U, 8U, 37U, 64U));

} // namespace
