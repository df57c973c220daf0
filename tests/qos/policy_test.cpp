// SPDX-License-Identifier: MIT OR GPL-2.0
// Policies of quotas, on numbers of the paper (Sections 3.4 and 3.5) and others that were worked
// out by hand.
#include <gtest/gtest.h>

#include "lab/quotas/machine/policy.hpp"

namespace qos {
namespace {

const Rational peak = 2048;

std::vector<std::int64_t> plain(const std::vector<Integer> &values) {
    std::vector<std::int64_t> found;
    for (const Integer &one : values)
        found.push_back(one.get_si());
    return found;
}

TEST(Alpha, IsThePapersExample) {
    EXPECT_EQ(alpha(125, {.instructions = 100 * 20'000, .cycles = 20'000}, peak, {}),
              fraction(5, 4));
}

TEST(Alpha, IsOneFromTheGoalOn) {
    EXPECT_EQ(alpha(100, {100 * 7, 7}, peak, {}), 1);
    EXPECT_EQ(alpha(100, {101 * 7, 7}, peak, {}), 1);
    EXPECT_GT(alpha(100, {100 * 7 - 1, 7}, peak, {}), 1);
}

TEST(Alpha, IsOneBeforeTheFirstEpochHasEnded) {
    EXPECT_EQ(alpha(100, {}, peak, {}), 1);
}

TEST(Alpha, GrantsAllThereIsWhereNothingWasDone) {
    EXPECT_EQ(alpha(100, {0, 10}, peak, {}) * 100, peak);
    EXPECT_EQ(alpha(4096, {0, 10}, peak, {}), 1) << "not less than 1";
}

TEST(Alpha, IsBoundedOnRequest) {
    EXPECT_EQ(alpha(100, {1, 10}, peak, {.alpha_max = fraction(3, 2)}), fraction(3, 2));
    EXPECT_EQ(alpha(100, {0, 10}, peak, {.alpha_max = fraction(3, 2)}), fraction(3, 2));
}

TEST(Quota, IsEquationOne) {
    EXPECT_EQ(quota(fraction(1, 3), 1, 10'000, nullptr), fraction(10'000, 3));
    EXPECT_EQ(quota(100, fraction(5, 4), 10'000, nullptr), 1'250'000);
    const Rational most = 1000;
    EXPECT_EQ(quota(100, 2, 10, &most), 1000);
    EXPECT_EQ(quota(100, 1, 10, &most), 1000);
    EXPECT_EQ(quota(99, 1, 10, &most), 990);
}

TEST(Shares, OfAThird) {
    // Of 3334 each of three SMs has 1111, and the one that is left goes to the lowest.
    EXPECT_EQ(
        plain(shares(fraction(10'000, 3), std::vector<std::int64_t>{1, 1, 1}, Rounding::largest)),
        (std::vector<std::int64_t>{1112, 1111, 1111}));
    // Of 10 by 1 : 2 : 4: 1 3/7, 2 6/7, 5 5/7.
    EXPECT_EQ(plain(shares(10, std::vector<std::int64_t>{1, 2, 4}, Rounding::largest)),
              (std::vector<std::int64_t>{1, 3, 6}));
    EXPECT_EQ(plain(shares(2, std::vector<std::int64_t>{0, 1, 1, 1}, Rounding::largest)),
              (std::vector<std::int64_t>{0, 1, 1, 0}));
}

TEST(Shares, AreRoundedFromTheFraction) {
    const std::vector<std::int64_t> blocks = {1, 3};
    // 3/2 and 9/2
    EXPECT_EQ(plain(shares(6, blocks, Rounding::floor)), (std::vector<std::int64_t>{1, 4}));
    EXPECT_EQ(plain(shares(6, blocks, Rounding::ceil)), (std::vector<std::int64_t>{2, 5}));
    EXPECT_EQ(plain(shares(6, blocks, Rounding::nearest)), (std::vector<std::int64_t>{2, 5}));
    // 11/8 and 33/8: from the fraction itself, not from its ceiling.
    EXPECT_EQ(plain(shares(fraction(11, 2), blocks, Rounding::nearest)),
              (std::vector<std::int64_t>{1, 4}));
}

TEST(Shares, OfNoBlocksAreNone) {
    EXPECT_EQ(plain(shares(10, std::vector<std::int64_t>{0, 0}, Rounding::ceil)),
              (std::vector<std::int64_t>{0, 0}));
}

TEST(Search, JoinsWhatKernelsGot) {
    const std::vector<Rational> attained = {fraction(13, 10), fraction(4, 5)};
    EXPECT_EQ(search_factor(attained, SearchOperator::product), fraction(26, 25))
        << "one ahead hides one behind";
    EXPECT_EQ(search_factor(attained, SearchOperator::min), fraction(4, 5));
    EXPECT_EQ(search_factor(attained, SearchOperator::mean), fraction(21, 20));
    EXPECT_EQ(search_factor(attained, SearchOperator::sum), fraction(21, 10));
    for (const SearchOperator by :
         {SearchOperator::product, SearchOperator::min, SearchOperator::mean, SearchOperator::sum})
        EXPECT_EQ(search_factor({}, by), 1);
}

TEST(Search, DividesByAlpha) {
    EXPECT_EQ(attainment({1000, 10}, fraction(5, 4), 100), fraction(4, 5))
        << "on its goal, and behind in history";
}

struct Boundary {
    const char *name;
    Scheme scheme;
    bool qos;
    Readings readings;
    std::vector<std::int64_t> keeps; ///< of 40, -3 and -31 on SMs with quotas of 100, 20 and 10
};

class Carried : public testing::TestWithParam<Boundary> {};

TEST_P(Carried, IsWhatTheSchemeKeeps) {
    const Boundary &at = GetParam();
    const std::vector<std::int64_t> counters = {40, -3, -31}, quotas = {100, 20, 10},
                                    blocks = {10, 2, 1};
    EXPECT_EQ(carried(counters, quotas, blocks, kept(at.scheme, at.qos, at.readings), at.readings),
              at.keeps);
}

const Boundary boundaries[] = {
    {"naive", Scheme::naive, true, {}, {0, 0, 0}},
    {"history", Scheme::history, false, {}, {0, 0, 0}},
    {"elastic", Scheme::elastic, true, {}, {0, 0, 0}},
    {"elastic_carry", Scheme::elastic, true, {.neg_boundary = Debt::carry}, {0, -3, -31}},
    {"rollover", Scheme::rollover, true, {}, {40, -3, -31}},
    {"rollover_other", Scheme::rollover, false, {}, {0, -3, -31}},
    {"rollover_time", Scheme::rollover_time, true, {}, {40, -3, -31}},
    {"rollover_forgive", Scheme::rollover, true, {.neg_boundary = Debt::forgive}, {40, 0, 0}},
    {"rollover_other_forgive", Scheme::rollover, false, {.neg_boundary = Debt::forgive}, {0, 0, 0}},
    {"rollover_capped", Scheme::rollover, true, {.rollover_cap = fraction(1, 3)}, {33, -3, -31}},
    // 40 by 10 : 2 : 1 is 30 10/13, 6 2/13, 3 1/13.
    {"rollover_pool",
     Scheme::rollover,
     true,
     {.rollover_scope = RolloverScope::pool},
     {31, 3, -28}},
    {"rollover_pool_capped",
     Scheme::rollover,
     true,
     {.rollover_cap = fraction(1, 5), .rollover_scope = RolloverScope::pool},
     {20, 1, -29}},
};
INSTANTIATE_TEST_SUITE_P(, Carried, testing::ValuesIn(boundaries),
                         [](const auto &info) { return info.param.name; });

TEST(Pool, WithoutBlocksStays) {
    const std::vector<std::int64_t> counters = {40, 2}, none = {0, 0};
    const Readings readings{.rollover_scope = RolloverScope::pool};
    EXPECT_EQ(carried(counters, none, none, kept(Scheme::rollover, true, readings), readings),
              counters);
}

struct RefillTest {
    std::vector<Seat> seats;
    Trigger trigger;
    Absent absent;
    std::vector<bool> naive, elastic;
};

TEST(Refill, IsTestedByTheReading) {
    const Seat spent_qos{true, true, true}, qos{true, true, false}, spent{false, true, true},
        other{false, true, false}, gone{false, false, false}, gone_qos{true, false, false};
    const Trigger all = Trigger::all, own = Trigger::own, qos_ = Trigger::qos;
    const Absent exempt = Absent::exempt, counts = Absent::counts;
    const RefillTest tests[] = {
        {{spent_qos, spent}, all, exempt, {false, true}, {true, true}},
        {{qos, spent}, all, exempt, {false, false}, {false, false}},
        {{spent_qos, other, spent}, all, exempt, {false, false, false}, {false, false, false}},
        {{spent_qos, other, spent}, own, exempt, {false, false, true}, {true, false, true}},
        {{spent_qos, other, spent}, qos_, exempt, {false, true, true}, {true, true, true}},
        {{qos, other, spent}, own, exempt, {false, false, false}, {false, false, false}},
        {{qos, other, spent}, qos_, exempt, {false, false, false}, {false, false, false}},
        {{gone_qos, spent}, all, exempt, {false, true}, {false, true}},
        {{gone_qos, spent}, all, counts, {false, false}, {false, false}},
        {{gone_qos, spent}, own, counts, {false, false}, {false, false}},
        {{spent_qos, gone, spent}, all, counts, {false, false, false}, {false, false, false}},
        {{spent_qos, gone, spent}, own, counts, {false, false, true}, {true, false, true}},
    };
    for (const RefillTest &one : tests) {
        Exhausted on_sm;
        for (const Seat &seat : one.seats)
            on_sm.look_at(seat, one.absent);
        const Readings readings{.refill_trigger = one.trigger, .absent = one.absent};
        for (std::size_t k = 0; k < one.seats.size(); k++) {
            const std::ptrdiff_t row = &one - tests;
            EXPECT_EQ(is_refilled(one.seats[k], on_sm, Scheme::naive, readings), one.naive[k])
                << row << ", " << k;
            EXPECT_EQ(is_refilled(one.seats[k], on_sm, Scheme::rollover, readings), one.naive[k])
                << row << ", " << k;
            EXPECT_EQ(is_refilled(one.seats[k], on_sm, Scheme::elastic, readings), one.elastic[k])
                << row << ", " << k;
        }
    }
}

} // namespace
} // namespace qos
