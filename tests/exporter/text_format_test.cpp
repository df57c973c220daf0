// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tools/exporter/text_format.hpp"

#include <charconv>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace nvdebug::exporter {
namespace {

TEST(TextFormat, HasFamiliesInTheOrderOfTheirFirstMetric) {
    TextFormat to;
    to.counter("b_total", "Second letter", {{"x", "1"}}, 2);
    to.gauge("a", "First letter", {}, 0.5);
    to.counter("b_total", "Second letter", {{"x", "2"}, {"y", ""}}, 3);
    to.summary("s", "Lengths", {{"x", "1"}}, 3, 0.25, {{0.5, 0.1}, {1, 0.125}});
    to.summary("s", "Lengths", {}, 0, 0, {});
    EXPECT_EQ(to.text(), "# HELP b_total Second letter\n"
                         "# TYPE b_total counter\n"
                         "b_total{x=\"1\"} 2\n"
                         "b_total{x=\"2\",y=\"\"} 3\n"
                         "# HELP a First letter\n"
                         "# TYPE a gauge\n"
                         "a 0.5\n"
                         "# HELP s Lengths\n"
                         "# TYPE s summary\n"
                         "s_count{x=\"1\"} 3\n"
                         "s_sum{x=\"1\"} 0.25\n"
                         "s{x=\"1\",quantile=\"0.5\"} 0.1\n"
                         "s{x=\"1\",quantile=\"1\"} 0.125\n"
                         "s_count 0\n"
                         "s_sum 0\n");
    EXPECT_EQ(TextFormat().text(), "");
}

/// A quotation mark is escaped only in values of labels.
TEST(TextFormat, EscapesLineEndsAndQuotes) {
    TextFormat to;
    to.gauge("a", "a \"b\" \\ c\nd", {{"x", "a \"b\" \\ c\nd\\n é"}}, 1);
    EXPECT_EQ(to.text(), "# HELP a a \"b\" \\\\ c\\nd\n"
                         "# TYPE a gauge\n"
                         "a{x=\"a \\\"b\\\" \\\\ c\\nd\\\\n é\"} 1\n");
}

std::string number(double value) {
    TextFormat to;
    to.gauge("a", "", {}, value);
    const std::string text = to.text();
    const std::size_t begin = text.rfind(' ') + 1;
    return text.substr(begin, text.size() - begin - 1);
}

TEST(TextFormat, HasNumbersInTheirUsualForm) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const auto &[value, text] : {std::pair<double, const char *>{0, "0"},
                                      {-1, "-1"},
                                      {0.002097152, "0.002097152"},
                                      {100000, "100000"},
                                      {1234567890123456, "1234567890123456"},
                                      {1e16, "1e+16"},
                                      {1e-5, "1e-05"},
                                      {9.95, "9.95"},
                                      {infinite, "+Inf"},
                                      {-infinite, "-Inf"},
                                      {std::nan(""), "NaN"},
                                      {-std::nan(""), "NaN"}})
        EXPECT_EQ(number(value), text);
}

TEST(TextFormat, HasNumbersThatGiveTheSameDouble) {
    std::mt19937_64 random(1);
    for (int n = 0; n < 10'000; n++) {
        const double value =
            std::ldexp(static_cast<double>(random()), static_cast<int>(n % 200) - 150);
        const std::string text = number(value);
        double again = 0;
        std::from_chars(text.data(), text.data() + text.size(), again);
        EXPECT_EQ(again, value) << text;
    }
}

} // namespace
} // namespace nvdebug::exporter
