// SPDX-License-Identifier: MIT OR GPL-2.0
// Words that were typed.
#include <gtest/gtest.h>

#include "cli/text.hpp"

using namespace nvdebugctl;

namespace {

const std::vector<std::string> objects = {"gpu", "runlist", "tsg", "topology", "channel", "check"};

} // namespace

TEST(WholeWord, IsTheOnlyOneThatBeginsSo) {
    EXPECT_EQ(whole_word("g", objects), "gpu");
    EXPECT_EQ(whole_word("gpu", objects), "gpu");
    EXPECT_EQ(whole_word("ts", objects), "tsg");
    EXPECT_EQ(whole_word("t", objects), std::nullopt);
    EXPECT_EQ(whole_word("ch", objects), std::nullopt);
    EXPECT_EQ(whole_word("gpus", objects), std::nullopt);
    EXPECT_EQ(whole_word("", objects), std::nullopt);
    EXPECT_EQ(whole_word("", std::vector<std::string>{"one"}), std::nullopt);
    EXPECT_EQ(whole_word("list", std::vector<std::string>{"list", "listen"}), "list");
}

TEST(NearestWord, IsTwoLettersAwayAtMost) {
    EXPECT_EQ(nearest_word("gpus", objects), "gpu");
    EXPECT_EQ(nearest_word("rnulist", objects), "runlist");
    EXPECT_EQ(nearest_word("chanel", objects), "channel");
    EXPECT_EQ(nearest_word("chek", objects), "check");
    EXPECT_EQ(nearest_word("watch", objects), std::nullopt);
    EXPECT_EQ(nearest_word("x", objects), std::nullopt);
    EXPECT_EQ(nearest_word("", objects), std::nullopt);
    EXPECT_EQ(nearest_word(std::string(1000, 'g'), objects), std::nullopt);
}
