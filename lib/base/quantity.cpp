// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <vector>

#include "lib/base/words.hpp"

namespace nvdebug::base {
namespace {

struct TimeUnit {
    std::string_view name;
    std::uint64_t ns;
    std::size_t decimals; ///< the most that a number of this unit may have; the last one is 1 ns or
                          ///< more
};

constexpr std::array time_units = {TimeUnit{"ns", 1, 0},
                                   TimeUnit{"us", 1'000, 3},
                                   TimeUnit{"ms", 1'000'000, 6},
                                   TimeUnit{"s", 1'000'000'000, 9},
                                   TimeUnit{"min", 60'000'000'000, 6},
                                   TimeUnit{"m", 60'000'000'000, 6},
                                   TimeUnit{"h", 3'600'000'000'000, 6}};

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::optional<std::uint64_t> digits(std::string_view text) {
    std::uint64_t number = 0;
    const char *const end = text.data() + text.size();
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos ||
        std::from_chars(text.data(), end, number).ec != std::errc())
        return std::nullopt;
    return number;
}

const TimeUnit *find_unit(std::string_view typed) {
    const auto found = std::ranges::find_if(time_units, [&](const TimeUnit &unit) {
        return std::ranges::equal(unit.name, typed, [](char a, char b) { return a == lower(b); });
    });
    return found == time_units.end() ? nullptr : &*found;
}

std::string name_of_bare(std::string_view unit) {
    return unit == "s" ? "seconds" : unit == "ms" ? "milliseconds" : "microseconds";
}

} // namespace

std::optional<std::uint64_t> parse_time_ns(std::string_view text, std::string_view bare) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string_view name = text.substr(end);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    if (name.empty() && end < text.size())
        return std::nullopt; // blanks at the end
    const TimeUnit *const unit = find_unit(name.empty() ? bare : name);
    if (!unit)
        return std::nullopt;
    const std::string_view value = text.substr(0, end);
    const std::size_t point = value.find('.');
    const auto whole = digits(value.substr(0, point));
    if (!whole || *whole > longest_time_ns / unit->ns)
        return std::nullopt;
    std::uint64_t ns = *whole * unit->ns;
    if (point != value.npos) {
        const std::string_view decimals = value.substr(point + 1);
        const auto part = digits(decimals);
        if (!part || decimals.size() > unit->decimals)
            return std::nullopt;
        std::uint64_t scale = 1;
        for (std::size_t n = 0; n < decimals.size(); n++)
            scale *= 10;
        ns += *part * unit->ns / scale;
    }
    return ns <= longest_time_ns ? std::optional(ns) : std::nullopt;
}

std::string time_text(std::uint64_t ns) {
    for (auto unit = time_units.rbegin(); unit != time_units.rend(); unit++)
        if (unit->name != "min" && ns >= unit->ns && ns % unit->ns == 0)
            return std::to_string(ns / unit->ns) + std::string(unit->name);
    return std::to_string(ns) + "ns";
}

std::string short_time(std::int64_t ns, std::string_view gap) {
    struct ShownUnit {
        std::string_view name;
        double ns;
    };
    static constexpr std::array shown = {ShownUnit{"us", 1e3}, ShownUnit{"ms", 1e6},
                                         ShownUnit{"s", 1e9}};
    const double length = std::abs(static_cast<double>(ns));
    if (length < shown.front().ns)
        return std::to_string(ns) + std::string(gap) + "ns";
    const ShownUnit *unit = shown.begin();
    // A value that would be rounded to 1000 is shown in the next unit.
    while (unit + 1 != shown.end() && length / unit->ns >= 999.5)
        unit++;
    const double value = length / unit->ns;
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.*f",
                  value >= 99.95   ? 0
                  : value >= 9.995 ? 1
                                   : 2,
                  value);
    return (ns < 0 ? "-" : "") + std::string(digits.data()) + std::string(gap) +
           std::string(unit->name);
}

std::string describe(const TimeRule &rule) {
    std::string text = "a time";
    if (rule.least && rule.most < longest_time_ns)
        text += " from " + time_text(rule.least) + " to " + time_text(rule.most);
    else if (rule.least)
        text += " of at least " + time_text(rule.least);
    else if (rule.most < longest_time_ns)
        text += " of at most " + time_text(rule.most);
    const auto is_taken = [&](std::uint64_t ns) { return ns >= rule.least && ns <= rule.most; };
    std::vector<std::string> examples;
    for (const std::uint64_t ns :
         {std::uint64_t{500'000}, std::uint64_t{2'000'000}, std::uint64_t{100'000'000},
          std::uint64_t{10'000'000'000}, std::uint64_t{600'000'000'000}})
        if (is_taken(ns) && examples.size() < 3)
            examples.push_back(time_text(ns));
    if (!examples.empty())
        text += ", as " + listed(examples, " or ");
    return text + (rule.bare.empty() ? ", with its unit"
                                     : " (a number alone is " + name_of_bare(rule.bare) + ")");
}

tl::expected<std::uint64_t, std::string> take_time_ns(std::string_view name, std::string_view text,
                                                      const TimeRule &rule) {
    const auto ns = parse_time_ns(text, rule.bare);
    if (!ns || *ns < rule.least || *ns > rule.most)
        return tl::unexpected(std::string(name) + " takes " + describe(rule) + ", not " +
                              quote(text));
    return *ns;
}

std::optional<std::int64_t> parse_millionths(std::string_view text) {
    constexpr std::size_t most_decimals = 6, most_digits = 9;
    const std::size_t dot = std::min(text.find('.'), text.size());
    const std::string_view decimals = text.substr(std::min(dot + 1, text.size()));
    if (dot > most_digits || decimals.size() > most_decimals)
        return std::nullopt;
    const auto whole = digits(text.substr(0, dot));
    std::uint64_t part = 0;
    if (dot < text.size()) {
        const auto found = digits(decimals);
        if (!found)
            return std::nullopt;
        part = *found;
        for (std::size_t n = decimals.size(); n < most_decimals; n++)
            part *= 10;
    }
    return whole ? std::optional(static_cast<std::int64_t>(*whole * 1'000'000 + part))
                 : std::nullopt;
}

std::optional<std::int64_t> parse_percent(std::string_view text) {
    if (!text.ends_with('%'))
        return std::nullopt;
    text.remove_suffix(1);
    text.remove_suffix(text.size() - (text.find_last_not_of(' ') + 1)); // blanks as in `30 %`
    const auto millionths = parse_millionths(text);
    return millionths && *millionths > 0 && *millionths <= 100'000'000 ? millionths : std::nullopt;
}

std::string percent_guess(std::string_view text) {
    const auto millionths = parse_millionths(text);
    if (!millionths || *millionths <= 0 || *millionths > 100'000'000)
        return "";
    // 0.3 is meant as a part of 1, and 30 as a percentage.
    std::string number(text);
    if (*millionths <= 1'000'000 && text.find('.') != text.npos) {
        const std::int64_t percent = *millionths * 100;
        number = std::to_string(percent / 1'000'000);
        if (const std::int64_t rest = percent % 1'000'000) {
            std::string decimals = std::to_string(1'000'000 + rest).substr(1);
            decimals.resize(decimals.find_last_not_of('0') + 1);
            number += "." + decimals;
        }
    }
    return " (did you mean " + number + "%?)";
}

std::optional<std::int64_t> parse_whole(std::string_view text, std::int64_t least,
                                        std::int64_t most) {
    std::int64_t number = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || number < least || number > most)
        return std::nullopt;
    return number;
}

tl::expected<std::int64_t, std::string> take_whole(std::string_view name, std::string_view text,
                                                   std::int64_t least, std::int64_t most) {
    const auto number = parse_whole(text, least, most);
    if (!number)
        return tl::unexpected(std::string(name) + " takes a whole number from " +
                              std::to_string(least) + " to " + std::to_string(most) + ", not " +
                              quote(text));
    return *number;
}

} // namespace nvdebug::base
