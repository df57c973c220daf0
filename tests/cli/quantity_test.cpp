// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses times, parts and whole numbers.
#include "lib/base/quantity.hpp"

#include <gtest/gtest.h>

namespace {

using namespace nvdebug::base;

constexpr std::uint64_t ms = 1'000'000, s = 1'000'000'000;

TEST(Time, HasUnitsAndDecimals) {
    EXPECT_EQ(parse_time_ns("500us"), 500'000u);
    EXPECT_EQ(parse_time_ns("2ms"), 2 * ms);
    EXPECT_EQ(parse_time_ns("1.5ms"), 1'500'000u);
    EXPECT_EQ(parse_time_ns("1s"), s);
    EXPECT_EQ(parse_time_ns("8.556380160s"), 8'556'380'160u);
    EXPECT_EQ(parse_time_ns("1024ns"), 1024u);
    EXPECT_EQ(parse_time_ns("0s"), 0u);
    EXPECT_EQ(parse_time_ns("10m"), 600 * s);
    EXPECT_EQ(parse_time_ns("1min"), 60 * s);
    EXPECT_EQ(parse_time_ns("1.5h"), 5400 * s);
    EXPECT_EQ(parse_time_ns("1000000000s"), longest_time_ns);
}

TEST(Time, UnitsMayStandApartAndInCapitals) {
    EXPECT_EQ(parse_time_ns("8 ms"), 8 * ms);
    EXPECT_EQ(parse_time_ns("8MS"), 8 * ms);
    EXPECT_EQ(parse_time_ns("8   Ms"), 8 * ms);
    EXPECT_EQ(parse_time_ns("1H"), 3600 * s);
}

TEST(Time, ANumberAloneHasAUnitWhereOneIsGiven) {
    EXPECT_EQ(parse_time_ns("10", "s"), 10 * s);
    EXPECT_EQ(parse_time_ns("0.5", "s"), 500 * ms);
    EXPECT_EQ(parse_time_ns("250", "ms"), 250 * ms);
    EXPECT_EQ(parse_time_ns("1998.848", "us"), 1'998'848u);
    EXPECT_EQ(parse_time_ns("10us", "s"), 10'000u);
    EXPECT_EQ(parse_time_ns("10"), std::nullopt);
}

TEST(Time, RefusesWhatIsNone) {
    for (const char *const text : {"",
                                   "us",
                                   "ms",
                                   ".5ms",
                                   "5.ms",
                                   "-1ms",
                                   "+1ms",
                                   " 1ms",
                                   "1ms ",
                                   "1 ",
                                   "1d",
                                   "0x10us",
                                   "1.2.3",
                                   "1.0005us",
                                   "1.5ns",
                                   "1e3us",
                                   "inf",
                                   "99999999999999999999us",
                                   "1000000001s",
                                   "277778h",
                                   "1\tms",
                                   "1 m s",
                                   "\xff",
                                   "1\xc2\xb5s"})
        for (const char *const bare : {"us", "s", ""})
            EXPECT_EQ(parse_time_ns(text, bare), std::nullopt) << text;
    EXPECT_EQ(parse_time_ns(std::string(100'000, '1') + "s"), std::nullopt);
    EXPECT_EQ(parse_time_ns(std::string_view("1s\0", 3)), std::nullopt);
}

TEST(Time, TheSentenceHasBoundsUnitsAndWhatWasTyped) {
    EXPECT_EQ(take_time_ns("--for", "2", {.least = ms, .bare = "s"}), 2 * s);
    EXPECT_EQ(take_time_ns("--for", "abc", {.least = ms, .bare = "s"}).error(),
              "--for takes a time of at least 1ms, as 2ms, 100ms or 10s (a number alone is "
              "seconds), not 'abc'");
    EXPECT_EQ(take_time_ns("--epoch", "100", {.least = ms, .most = 10 * s}).error(),
              "--epoch takes a time from 1ms to 10s, as 2ms, 100ms or 10s, with its unit, not "
              "'100'");
    EXPECT_FALSE(take_time_ns("--epoch", "11s", {.least = ms, .most = 10 * s}));
    EXPECT_FALSE(take_time_ns("--epoch", "0s", {.least = ms, .most = 10 * s}));
}

TEST(Time, IsShownInTheLargestUnitThatFits) {
    EXPECT_EQ(time_text(0), "0ns");
    EXPECT_EQ(time_text(1500 * ms), "1500ms");
    EXPECT_EQ(time_text(90 * s), "90s");
    EXPECT_EQ(time_text(600 * s), "10m");
    EXPECT_EQ(time_text(7200 * s), "2h");
}

TEST(ShortTime, HasThreeSignificantDigits) {
    for (const auto &[ns, text] : {std::pair<std::int64_t, const char *>{0, "0ns"},
                                   {999, "999ns"},
                                   {1'024, "1.02us"},
                                   {81'449, "81.4us"},
                                   {999'499, "999us"},
                                   {999'600, "1.00ms"},
                                   {1'998'848, "2.00ms"},
                                   {31'400'000, "31.4ms"},
                                   {99'960'000, "100ms"},
                                   {999'499'000, "999ms"},
                                   {999'600'000, "1.00s"},
                                   {12'400'000'000, "12.4s"},
                                   {4'000'000'000'000, "4000s"},
                                   {-5'242'880, "-5.24ms"}})
        EXPECT_EQ(short_time(ns), text);
    EXPECT_EQ(short_time(2'074'000, " "), "2.07 ms");
}

TEST(Percent, HasItsSign) {
    EXPECT_EQ(parse_percent("30%"), 30'000'000);
    EXPECT_EQ(parse_percent("12.5%"), 12'500'000);
    EXPECT_EQ(parse_percent("30 %"), 30'000'000);
    EXPECT_EQ(parse_percent("100%"), 100'000'000);
    for (const char *const text : {"", "%", " %", "30", "0.3", "0%", "100.1%", "-1%", "+1%", "x%",
                                   "1e1%", "nan%", "30%%", "1.%", ".5%", "1.0000001%"})
        EXPECT_EQ(parse_percent(text), std::nullopt) << text;
}

TEST(Percent, AForgottenSignIsGuessed) {
    EXPECT_EQ(percent_guess("0.3"), " (did you mean 30%?)");
    EXPECT_EQ(percent_guess("0.125"), " (did you mean 12.5%?)");
    EXPECT_EQ(percent_guess("30"), " (did you mean 30%?)");
    EXPECT_EQ(percent_guess("1"), " (did you mean 1%?)");
    for (const char *const text : {"", "x", "101", "0", "-3"})
        EXPECT_EQ(percent_guess(text), "") << text;
}

TEST(Whole, IsDecimalAndWithinItsBounds) {
    EXPECT_EQ(parse_whole("7"), 7);
    EXPECT_EQ(parse_whole("7", 7, 7), 7);
    for (const char *const text :
         {"", "-1", "+7", " 7", "7 ", "7.0", "0x7", "8", "7s", "99999999999999999999"})
        EXPECT_EQ(parse_whole(text, 0, 7), std::nullopt) << text;
    EXPECT_EQ(take_whole("--rate", "x", 1, 100).error(),
              "--rate takes a whole number from 1 to 100, not 'x'");
}

} // namespace
