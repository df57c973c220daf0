// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/qos/why_not.hpp"

#include <gtest/gtest.h>

namespace qos {
namespace {

constexpr Surroundings usual{.has_tasks = true, .is_seen = true, .is_cut = false};
const Goal share{.aim = Aim::share, .part = 30 * point};
const Goal cap{.cap = 50 * point};

/// Returns the record of a whole second.
Record record(bool kept, std::optional<Part> wants = whole) {
    return {{}, {}, {.time = second}, kept, wants};
}

TEST(WhyNot, SecondsThatCountHaveNoReason) {
    EXPECT_EQ(why_not(share, record(true), usual), std::nullopt);
    EXPECT_EQ(why_not(share, record(false), usual), std::nullopt) << "it was missed by its numbers";
    EXPECT_EQ(why_not(cap, record(false), usual), std::nullopt);
}

TEST(WhyNot, PromiseWithoutWorkHasNoDemand) {
    EXPECT_EQ(why_not(share, record(true, std::nullopt), usual), WhyNot::no_demand);
    EXPECT_EQ(why_not(share, record(true), {.has_tasks = false, .is_seen = false, .is_cut = false}),
              WhyNot::no_demand);
    EXPECT_EQ(why_not(cap, record(true, std::nullopt), usual), std::nullopt);
    EXPECT_EQ(why_not(cap, record(true), {.has_tasks = false, .is_seen = false, .is_cut = false}),
              std::nullopt);
}

TEST(WhyNot, UnseenTurnsPrecedeAllNumbers) {
    constexpr Surroundings unseen{.has_tasks = true, .is_seen = false, .is_cut = true};
    for (const Goal &goal : {share, cap})
        for (const bool kept : {false, true})
            EXPECT_EQ(why_not(goal, record(kept, std::nullopt), unseen), WhyNot::cannot_be_seen);
    EXPECT_EQ(why_not({.aim = Aim::latency}, record(true), unseen), std::nullopt);
    EXPECT_EQ(why_not({}, record(true), unseen), std::nullopt) << "there is no goal";
}

TEST(WhyNot, OnlyMissedPromisesAreRefused) {
    constexpr Surroundings cut{.has_tasks = true, .is_seen = true, .is_cut = true};
    EXPECT_EQ(why_not(share, record(false), cut), WhyNot::refused);
    EXPECT_EQ(why_not(share, record(true), cut), std::nullopt);
    EXPECT_EQ(why_not(cap, record(false), cut), std::nullopt);
}

TEST(WhyNot, EpochsThatAreNotJudgedHaveNoReason) {
    Record young = record(true, std::nullopt);
    young.is_judged = false;
    EXPECT_EQ(why_not(share, young, {.has_tasks = true, .is_seen = false, .is_cut = true}),
              std::nullopt);
}

} // namespace
} // namespace qos
