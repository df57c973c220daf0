// SPDX-License-Identifier: MIT OR GPL-2.0
// The rows of tenants on one GPU, and which of them stay when goals are replaced.
#include "tools/nvqos/keep/tenants.hpp"

#include <gtest/gtest.h>

namespace nvqos {
namespace {

using qos::ms;

Goals goals_of_words(const std::vector<std::string> &words) {
    Goals goals;
    for (const std::string &word : words)
        EXPECT_TRUE(add_word(word, goals));
    return goals;
}

TEST(Tenants, RowsOfTheSameGoalMove) {
    Tenants tenants(goals_of_words({"1=share:30%", "2=cap:20%"}), 0);
    tenants.add_use({0, 1, 0, 3 * ms, true});
    tenants.add_use({1, 2, 3 * ms, 8 * ms, true});
    tenants.add_use({2, 3, 8 * ms, 9 * ms, true});
    const auto was =
        tenants.replace(goals_of_words({"3=latency", "2=cap:20%", "1=share:40%"}), 10 * ms);
    EXPECT_EQ(was, (std::vector<std::optional<std::size_t>>{{}, 1, {}, 2}));
    ASSERT_EQ(tenants.size(), 4U);
    EXPECT_EQ(tenants[1].used, 5 * ms);
    EXPECT_EQ(tenants[1].since, 0);
    EXPECT_EQ(tenants[2].used, 0) << "another goal begins";
    EXPECT_EQ(tenants[2].since, 10 * ms);
    EXPECT_EQ(tenants[3].asked.name, "others");
    EXPECT_EQ(tenants[3].used, 1 * ms);
}

TEST(Tenants, OthersWithAnotherGoalBegin) {
    Tenants tenants(goals_of_words({"1=share:30%"}), 0);
    tenants.add_use({1, 2, 0, 3 * ms, true});
    const auto was = tenants.replace(goals_of_words({"1=share:30%", "others=cap:50%"}), 5 * ms);
    EXPECT_EQ(was, (std::vector<std::optional<std::size_t>>{0, {}}));
    EXPECT_EQ(tenants[tenants.others()].used, 0);
    EXPECT_EQ(tenants.list().back().cap, 50 * qos::point);
}

/// A file may give two tenants one name, and a tenant over the socket may be called others.
TEST(Tenants, KeysAreUnique) {
    Goals goals = goals_of_words({"1=share:30%", "2=cap:20%", "3=latency"});
    goals.tenants[0].name = "others";
    goals.tenants[1].name = goals.tenants[2].name = "train";
    const Tenants tenants(goals, 0);
    EXPECT_EQ(tenants.keys(), (std::vector<std::string>{"others'", "train", "train'", "others"}));
    EXPECT_FALSE(tenants.is_gang(tenants.others()));
    EXPECT_TRUE(tenants.is_gang(0));
}

TEST(Tenants, UseBeforeTheGoalDoesNotCount) {
    Tenants tenants(goals_of_words({"1=share:30%"}), 0);
    tenants.begin(10 * ms);
    tenants.add_use({0, 1, 4 * ms, 8 * ms, true});
    EXPECT_EQ(tenants[0].used, 0);
    tenants.add_use({0, 1, 8 * ms, 13 * ms, true});
    EXPECT_EQ(tenants[0].used, 3 * ms);
}

TEST(Missed, EpochsStandForPartsOfTheTime) {
    Missed missed;
    EXPECT_EQ(missed.part_of(40 * ms, 0), std::nullopt) << "no epoch has ended";
    for (const std::optional<bool> is_kept : {std::optional(true), {true}, {false}, {}})
        missed.add(is_kept, "now");
    EXPECT_EQ(missed.part_of(40 * ms, missed.of - missed.epochs - missed.unseen), 20 * ms);
    EXPECT_EQ(missed.part_of(40 * ms, missed.unseen), 10 * ms);
}

TEST(Tenants, ACopyBringsBackGoalsAndMisses) {
    Tenants tenants(goals_of_words({"1=share:30%"}), 0);
    tenants.note(0, false, "2026-11-25T14:02:11Z");
    const Tenants before = tenants;
    tenants.replace(goals_of_words({"1=share:50%"}), 5 * ms);
    tenants.note(0, false, "2026-11-25T14:02:12Z");
    ASSERT_EQ(tenants.missed().size(), 2U) << "the first goal's misses are kept apart";
    EXPECT_EQ(tenants.missed()[0].goal.part, 30 * qos::point);
    tenants = before;
    ASSERT_EQ(tenants.missed().size(), 1U);
    EXPECT_EQ(tenants.goal(0).part, 30 * qos::point);
}

} // namespace
} // namespace nvqos
