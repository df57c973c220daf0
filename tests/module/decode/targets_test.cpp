// SPDX-License-Identifier: MIT OR GPL-2.0
// The targets that control files accept.
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "decode/targets.h"

namespace {

int parse(std::string_view text, std::vector<nvdebug_target> *targets = nullptr) {
    std::vector<nvdebug_target> room(NVDEBUG_TARGETS_MAX);
    // A copy without terminator, so that the sanitizer sees a read past the end.
    const std::vector<char> bytes(text.begin(), text.end());
    const int count = nvdebug_targets_parse(bytes.data(), bytes.size(), room.data(), room.size());
    if (targets && count > 0)
        targets->assign(room.begin(), room.begin() + count);
    return count;
}

TEST(Targets, IdsInEachBase) {
    std::vector<nvdebug_target> targets;
    ASSERT_EQ(parse("12 0xc 0x00c\n0X1f 0", &targets), 5);
    for (int i : {0, 1, 2})
        EXPECT_EQ(targets[static_cast<std::size_t>(i)].id, 12u);
    EXPECT_EQ(targets[3].id, 31u);
    EXPECT_EQ(targets[4].id, 0u);
    for (const nvdebug_target &target : targets)
        EXPECT_FALSE(target.has_runlist);
    ASSERT_EQ(parse("0xabcdef 0xABCDEF 0x1234567 890", &targets), 4);
    EXPECT_EQ(targets[0].id, 0xabcdefu);
    EXPECT_EQ(targets[1].id, 0xabcdefu);
    EXPECT_EQ(targets[2].id, 0x1234567u);
    EXPECT_EQ(targets[3].id, 890u);
}

// A number with a leading zero is octal for strtoul() and decimal for a reader.
TEST(Targets, LeadingZeroIsRefused) {
    for (std::string_view text : {"010", "00", "07", "5 010", "010:5", "5:010", "040000000000"})
        EXPECT_EQ(parse(text), -EINVAL) << text;
    EXPECT_EQ(parse("0 0:0 0x010"), 3);
}

TEST(Targets, RunlistAndId) {
    std::vector<nvdebug_target> targets;
    ASSERT_EQ(parse("0x10:0x20\n3:4", &targets), 2);
    EXPECT_TRUE(targets[0].has_runlist);
    EXPECT_EQ(targets[0].runlist, 16u);
    EXPECT_EQ(targets[0].id, 32u);
    EXPECT_EQ(targets[1].runlist, 3u);
    EXPECT_EQ(targets[1].id, 4u);
}

TEST(Targets, BlanksAnywhereAround) {
    EXPECT_EQ(parse("\n  5 \n\n 6\n"), 2);
}

TEST(Targets, JunkIsRefused) {
    for (std::string_view text : {"",   " ",    "\n",    "x",    "5x",
                                  "5a", "5 x",  "5,6",   "-5",   "+5",
                                  "5:", ":5",   "5:6:7", "5: 6", "5 :6",
                                  "0x", "0x:5", "08",    "0b1",  "1.5",
                                  "5;", "five", "\x80",  "0x1g", "99999999999999999999x"})
        EXPECT_EQ(parse(text), -EINVAL) << text;
    EXPECT_EQ(parse(std::string_view("5\0", 2)), -EINVAL) << "an embedded NUL";
    EXPECT_EQ(parse(std::string_view("5\0006", 3)), -EINVAL);
}

TEST(Targets, TooLargeNumbersAreRefused) {
    EXPECT_EQ(parse("4294967295"), 1);
    for (std::string_view text :
         {"4294967296", "0x100000000", "100000000000000000000", "5 4294967296",
          "18446744073709551616", "18446744073709551621", "3:4294967296", "4294967296:3"})
        EXPECT_EQ(parse(text), -ERANGE) << text;
}

TEST(Targets, TooManyAreRefused) {
    std::string text;
    for (int i = 0; i < NVDEBUG_TARGETS_MAX; i++)
        text += "1 ";
    EXPECT_EQ(parse(text), NVDEBUG_TARGETS_MAX);
    EXPECT_EQ(parse(text + "1"), -E2BIG);
    EXPECT_EQ(parse(std::string(NVDEBUG_TARGETS_TEXT_MAX - 1, ' ') + "1"), 1);
    EXPECT_EQ(parse(std::string(NVDEBUG_TARGETS_TEXT_MAX, ' ') + "1"), -E2BIG);
}

TEST(Cursor, TargetsAndWords) {
    static const char *const words[] = {"on", "off"};
    const std::string_view text = " 0x3:7  off\n1 on\t2 offer 3\no ";
    nvdebug_cursor cursor{text.data(), text.data() + text.size()};
    nvdebug_target target{};

    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    ASSERT_EQ(nvdebug_cursor_target(&cursor, &target), 0);
    EXPECT_TRUE(target.has_runlist);
    EXPECT_EQ(target.runlist, 3u);
    EXPECT_EQ(target.id, 7u);
    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    EXPECT_EQ(nvdebug_cursor_choice(&cursor, words, 2), 1);

    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    ASSERT_EQ(nvdebug_cursor_target(&cursor, &target), 0);
    EXPECT_FALSE(target.has_runlist);
    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    EXPECT_EQ(nvdebug_cursor_choice(&cursor, words, 2), 0);

    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    ASSERT_EQ(nvdebug_cursor_target(&cursor, &target), 0);
    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    EXPECT_EQ(nvdebug_cursor_choice(&cursor, words, 2), -EINVAL) << "longer than a word";

    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    ASSERT_EQ(nvdebug_cursor_target(&cursor, &target), 0);
    ASSERT_TRUE(nvdebug_cursor_more(&cursor));
    EXPECT_EQ(nvdebug_cursor_choice(&cursor, words, 2), -EINVAL) << "shorter than a word";
    EXPECT_FALSE(nvdebug_cursor_more(&cursor));
    EXPECT_EQ(nvdebug_cursor_choice(&cursor, words, 2), -EINVAL) << "nothing left";
    EXPECT_EQ(nvdebug_cursor_target(&cursor, &target), -EINVAL);
}

} // namespace
