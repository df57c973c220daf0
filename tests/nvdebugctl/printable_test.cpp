// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"

using namespace nvdebugctl;

#define BAD "\xef\xbf\xbd"

TEST(Printable, KeepsTextAndReplacesTheRest) {
    for (const char *kept : {"", "plain ~", "µ … 漢 \U0001F600", "\u00a0\U0010FFFF"})
        EXPECT_EQ(printable(kept), kept);
    EXPECT_EQ(printable(std::string_view("a\0b\n\t\x1b[2J\x7f", 10)),
              "a" BAD "b" BAD BAD BAD "[2J" BAD);
    EXPECT_EQ(printable("\u0080\u009b31m\u009f"), BAD BAD "31m" BAD) << "C1";
    EXPECT_EQ(printable("\uFFFE\uFFFF"), BAD BAD);
    EXPECT_EQ(printable("\xff|\x80|\xc3"), BAD "|" BAD "|" BAD);
    EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), BAD BAD BAD BAD BAD) << "too long; a surrogate";
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), BAD BAD BAD BAD) << "above U+10FFFF";
    EXPECT_EQ(printable("\xe2\x82z"), BAD BAD "z") << "cut short";
}

TEST(Printable, IsReadFromLeftToRightInOneLine) {
    for (const char *mark : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d",
                             "\u202e", "\u2066", "\u2067", "\u2068", "\u2069", "\u2028", "\u2029"})
        EXPECT_EQ(printable("a" + std::string(mark) + "b"), "a" BAD "b");
    EXPECT_EQ(printable("\u200d\u2065\u2070 \u05d0\u05d1"), "\u200d\u2065\u2070 \u05d0\u05d1");
}

TEST(Printable, IsAllThatTextAndTablesShow) {
    const Json row = {{"name\x1b", "a\x1b]0;x\x07"}, {"list", {"\u009b"}}};
    for (const bool color : {false, true}) {
        Page page(color);
        page.line(page.bold("b\x1b[0m") + "c\x1b[2J");
        print_fields(row, page);
        print_table(Json::array({row}), {"name\x1b", "list"}, true, page);
        std::string text = page.text();
        EXPECT_EQ(text.find("\u009b"), std::string::npos);
        EXPECT_EQ(text.find('\x07'), std::string::npos);
        for (std::size_t at; (at = text.find('\x1b')) != std::string::npos; text.erase(at, 1))
            EXPECT_TRUE(color &&
                        (text.substr(at + 1, 3) == "[1m" || text.substr(at + 1, 3) == "[0m"))
                << text.substr(at + 1, 5);
    }
    EXPECT_EQ(to_csv(Json::array({row}), {"list", "name\x1b"}, false),
              BAD ",a" BAD "]0;x" BAD "\n");
}
