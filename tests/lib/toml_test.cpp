// SPDX-License-Identifier: MIT OR GPL-2.0
// Compiled twice, with and without NDEBUG. In both programs, a failed assertion of toml++ is an
// error.
#include "lib/base/toml.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <utility>

namespace {

using nvdebug::base::parse_toml;

TEST(Toml, IsReadWithItsLines) {
    const auto table = parse_toml("a = 1\n\n[b]\nc = [\"x\", 'y']\n");
    ASSERT_TRUE(table);
    EXPECT_EQ((*table)["a"].value_exact<std::int64_t>(), 1);
    EXPECT_EQ((*table)["b"]["c"][1].value_exact<std::string>(), "y");
    EXPECT_EQ((*table)["b"]["c"].node()->source().begin.line, 4U);
    EXPECT_TRUE(parse_toml(""));
}

TEST(Toml, NamesTheLineOfAnError) {
    const std::pair<const char *, std::size_t> wrong[] = {
        {"a =", 1},        {"a = 1\nb = \n", 2},   {"a = 1\na = 2", 2}, {"\xff", 1},
        {"[a", 1},         {"a = 1\n\n[[b]\n", 3}, {"\n= 1", 2},        {"\"a", 1},
        {"a = 1 b = 2", 1}};
    for (const auto &[text, line] : wrong) {
        const auto table = parse_toml(text);
        ASSERT_FALSE(table) << text;
        EXPECT_EQ(table.error().line, line) << text;
        EXPECT_NE(table.error().sentence, "") << text;
    }
}

/// Each text fails an assertion of toml++ 3.3.
TEST(Toml, MakesAnErrorOfEachAssertion) {
    const std::pair<const char *, std::size_t> wrong[] = {
        // is_bare_key_character(*cp) || is_string_delimiter(*cp)
        {"[$tenant]", 1},
        {"[$tenant]\n", 1},
        {"[[$]]", 1},
        {"[[$]]\n[[tenant]]\npid = 7\n", 1},
        {"# a comment\n\n[tenant]\n[ & ]\na = 1\n", 4},
        {"[]", 1},
        {"a = 1\n[=]\n", 2},
        {"a = 1\r\n[,]\r\nb = 2\r\n", 2},
        // !is_value_terminator(*cp)
        {"a = [1, }]", 1},
        {"a = [\n 1,\n }\n]\n", 3},
        // is_decimal_digit(*cp)
        {"a = 1979-05-27Te7:32:00Z", 1},
        {"a = 1\n\nb = 1979-05-27T07:3x:00Z\nc = 2\n", 3},
    };
    for (const auto &[text, line] : wrong) {
        const auto table = parse_toml(text);
        ASSERT_FALSE(table) << text;
        EXPECT_EQ(table.error().line, line) << text << ": " << table.error().sentence;
        EXPECT_NE(table.error().sentence, "") << text;
    }
}

/// These texts end a program that uses plain toml++ 3.3 and -fsanitize=undefined.
TEST(Toml, TakesCharactersBeyondAsciiForNoWhitespace) {
    for (const char *const text : {"é = 1", "[é]", "größe = 1", "a = 1 \u4e2d", "a = é",
                                   "\u3042 = 1", "\uff5e = 1", "\U0001f600 = 1"}) {
        const auto table = parse_toml(text);
        ASSERT_FALSE(table) << text;
        EXPECT_EQ(table.error().line, 1U) << text;
    }
    const auto quoted = parse_toml("\"é\" = 'größe \u4e2d' # \u3042");
    ASSERT_TRUE(quoted);
    EXPECT_EQ((*quoted)["é"].value_exact<std::string>(), "größe \u4e2d");
}

/// Parses every text of up to four of these characters, as a line below another one.
TEST(Toml, ParsesShortLinesWithoutAssertions) {
    const std::string characters = "[]{}$.,=\"'1-T:#a ";
    std::size_t refused = 0;
    for (std::size_t n = 0;
         n < characters.size() * characters.size() * characters.size() * characters.size(); n++) {
        std::string line;
        for (std::size_t rest = n, at = 0; at < 4; at++, rest /= characters.size())
            line += characters[rest % characters.size()];
        const auto table = parse_toml("x = 1\n" + line + "\ny = 2\n");
        if (table)
            continue;
        refused++;
        // Text in quotes may continue on the next line.
        EXPECT_GE(table.error().line, 2U) << line;
    }
    EXPECT_GT(refused, 0U);
}

} // namespace
