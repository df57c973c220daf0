// SPDX-License-Identifier: MIT OR GPL-2.0
#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <fmt/format.h>

namespace nvdebugctl {

std::string count_of(std::size_t count, std::string_view singular) {
    return fmt::format("{} {}{}", count, singular,
                       count == 1                ? ""
                       : singular.ends_with("s") ? "es"
                                                 : "s");
}

std::string name_of(const nvdebug::Occupant &occupant) {
    return fmt::format("{} {}", occupant.kind == nvdebug::Occupant::Kind::tsg ? "TSG" : "channel",
                       occupant.id);
}

std::string format_utc(std::chrono::system_clock::time_point time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
    const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return fmt::format("{}.{:03}Z", text, since.count() % 1000);
}

namespace {

struct TimeUnit {
    std::string_view name;
    std::uint64_t ns;
    std::size_t decimals; ///< most that a number of it may have; one of the last is 1 ns or more
};
constexpr std::array kUnits = {TimeUnit{"ns", 1, 0},
                               TimeUnit{"us", 1'000, 3},
                               TimeUnit{"ms", 1'000'000, 6},
                               TimeUnit{"s", 1'000'000'000, 9},
                               TimeUnit{"min", 60'000'000'000, 6},
                               TimeUnit{"m", 60'000'000'000, 6},
                               TimeUnit{"h", 3'600'000'000'000, 6}};
/// 31 years: no overflow.
constexpr std::uint64_t kMostNs = 1'000'000'000'000'000'000;

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
    std::uint64_t number = 0;
    const char *const end = digits.data() + digits.size();
    if (!is_digits(digits) || std::from_chars(digits.data(), end, number).ec != std::errc())
        return std::nullopt;
    return number;
}

} // namespace

std::optional<std::uint64_t> parse_timespan_ns(std::string_view text, std::string_view bare) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view name = end == text.size() ? bare : text.substr(end);
    const auto unit = std::ranges::find(kUnits, name, &TimeUnit::name);
    if (unit == kUnits.end())
        return std::nullopt;
    const std::string_view value = text.substr(0, end);
    const std::size_t point = value.find('.');
    const auto whole = number_of(value.substr(0, point));
    if (!whole || *whole > kMostNs / unit->ns)
        return std::nullopt;
    std::uint64_t ns = *whole * unit->ns;
    if (point != value.npos) {
        const std::string_view digits = value.substr(point + 1);
        const auto part = number_of(digits);
        if (!part || digits.size() > unit->decimals)
            return std::nullopt;
        std::uint64_t scale = 1;
        for (std::size_t n = 0; n < digits.size(); n++)
            scale *= 10;
        ns += *part * unit->ns / scale;
    }
    return ns <= kMostNs ? std::optional(ns) : std::nullopt;
}

std::optional<std::uint64_t> parse_milliseconds(std::string_view text) {
    constexpr std::uint64_t ms = 1'000'000;
    const auto ns = parse_timespan_ns(text, "ms");
    return ns && *ns % ms == 0 ? std::optional(*ns / ms) : std::nullopt;
}

std::optional<std::string> whole_word(std::string_view typed, std::span<const std::string> words) {
    const std::string *only = nullptr;
    for (const std::string &word : words) {
        if (word == typed)
            return word;
        if (!word.starts_with(typed))
            continue;
        if (only)
            return std::nullopt;
        only = &word;
    }
    return only && !typed.empty() ? std::optional(*only) : std::nullopt;
}

namespace {

/// Letters to change, add, leave out, or swap with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const bool same = a[i - 1] == b[j - 1];
            cost[i][j] = std::min(
                {cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

} // namespace

std::optional<std::string> nearest_word(std::string_view typed,
                                        std::span<const std::string> words) {
    constexpr std::size_t most = 2, longest = 64;
    if (typed.size() > longest)
        return std::nullopt;
    std::optional<std::string> nearest;
    std::size_t best = std::min(most, typed.size() / 2) + 1;
    for (const std::string &word : words)
        if (const std::size_t apart = distance(typed, word); apart < best) {
            best = apart;
            nearest = word;
        }
    return nearest;
}

std::optional<std::uint64_t> parse_integer(const std::string &word) {
    const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    if (!hexadecimal && word.size() > 1 && word[0] == '0')
        return std::nullopt;
    const int base = hexadecimal ? 16 : 10;
    const char *const begin = word.data() + (hexadecimal ? 2 : 0);
    const char *const end = word.data() + word.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(begin, end, value, base);
    if (begin == end || stop != end || error != std::errc())
        return std::nullopt;
    return value;
}

std::optional<std::uint32_t> parse_id(const std::string &word) {
    const auto value = parse_integer(word);
    if (!value || *value > std::numeric_limits<std::uint32_t>::max())
        return std::nullopt;
    return static_cast<std::uint32_t>(*value);
}

} // namespace nvdebugctl
