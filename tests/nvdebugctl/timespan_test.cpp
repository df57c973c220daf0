// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cli/text.hpp"

#include <gtest/gtest.h>

namespace {

using nvdebugctl::parse_timespan_ns;

TEST(Timespan, UnitsAndDecimals) {
    EXPECT_EQ(parse_timespan_ns("500us"), 500'000u);
    EXPECT_EQ(parse_timespan_ns("2ms"), 2'000'000u);
    EXPECT_EQ(parse_timespan_ns("1.5ms"), 1'500'000u);
    EXPECT_EQ(parse_timespan_ns("1s"), 1'000'000'000u);
    EXPECT_EQ(parse_timespan_ns("8.556380160s"), 8'556'380'160u);
    EXPECT_EQ(parse_timespan_ns("1998.848"), 1'998'848u);
    EXPECT_EQ(parse_timespan_ns("1024ns"), 1024u);
    EXPECT_EQ(parse_timespan_ns("0"), 0u);
    EXPECT_EQ(parse_timespan_ns("10m"), 600'000'000'000u);
    EXPECT_EQ(parse_timespan_ns("1min"), 60'000'000'000u);
    EXPECT_EQ(parse_timespan_ns("1.5h"), 5'400'000'000'000u);
    EXPECT_EQ(parse_timespan_ns("1000000000s"), 1'000'000'000'000'000'000u);
}

TEST(Timespan, ANumberAloneHasTheUnitThatIsUsualThere) {
    EXPECT_EQ(parse_timespan_ns("10", "s"), 10'000'000'000u);
    EXPECT_EQ(parse_timespan_ns("0.5", "s"), 500'000'000u);
    EXPECT_EQ(parse_timespan_ns("250", "ms"), 250'000'000u);
    EXPECT_EQ(parse_timespan_ns("10us", "s"), 10'000u);
}

TEST(Timespan, NoTime) {
    for (const char *text :
         {"", "us", "ms", ".5ms", "5.ms", "-1ms", "+1ms", "1 ms", "1ms ", "1d", "0x10us", "1.2.3",
          "1.0005", "1.5ns", "1e3us", "inf", "99999999999999999999us", "1000000001s", "277778h"})
        EXPECT_EQ(parse_timespan_ns(text), std::nullopt) << text;
}

} // namespace
