// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds the known word that a typed word means.
#include "lib/base/words.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace nvdebug::base;

const std::vector<std::string> objects = {"gpu", "runlist", "tsg", "topology", "channel", "check"};
const std::vector<std::string> options = {"--list", "--json", "--version", "--cdi", "--cdi-folder"};

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

TEST(NearestWord, HasMoreLettersRightThanWrong) {
    const std::vector<std::string> shells = {"bash", "zsh", "fish"};
    EXPECT_EQ(nearest_word("tcsh", shells), std::nullopt);
    EXPECT_EQ(nearest_word("bsh", shells), "bash");
    EXPECT_EQ(nearest_word("--x", options), std::nullopt);
}

TEST(SameWord, DoesNotCountTheCase) {
    EXPECT_EQ(same_word("GPU", objects), "gpu");
    EXPECT_EQ(same_word("gp", objects), std::nullopt);
    EXPECT_EQ(same_word("", objects), std::nullopt);
    EXPECT_EQ(nearest_word("CHEK", objects), "check");
}

TEST(Guess, NamesWhatWasMeant) {
    EXPECT_EQ(guess("chek", objects), " (did you mean 'check'?)");
    EXPECT_EQ(guess("--lst", options), " (did you mean --list?)");
    EXPECT_EQ(guess("--versoin", options), " (did you mean --version?)");
    EXPECT_EQ(guess("--ver", options), " (did you mean --version?)");
    EXPECT_EQ(guess("ch", objects), "; it may be channel or check");
    for (const char *const word : {"", "-", "--", "nothing", "\xff\xfe"})
        EXPECT_EQ(guess(word, options), "") << word;
}

TEST(Quote, IsPrintableAndShort) {
    EXPECT_EQ(quote("a"), "'a'");
    EXPECT_EQ(quote(""), "''");
    EXPECT_EQ(quote("a\x1b[2J"), "'a\xef\xbf\xbd[2J'");
    EXPECT_EQ(quote(std::string(101, 'x')), "'" + std::string(100, 'x') + "…'");
    // The text is cut between two characters.
    EXPECT_EQ(quote(std::string(99, 'x') + "é" + "z"), "'" + std::string(99, 'x') + "…'");
}

TEST(Listed, HasTheLastWordBehindAnother) {
    EXPECT_EQ(listed(std::vector<std::string>{}), "");
    EXPECT_EQ(listed(std::vector<std::string>{"a"}, " or "), "a");
    EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}, " or "), "a, b or c");
    EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
}

} // namespace
