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

struct Unit {
    std::string_view name;
    int decimals; ///< between the unit and ns
};
/** The empty name ends every text: last. */
constexpr std::array kUnits = {Unit{"us", 3}, Unit{"ms", 6}, Unit{"ns", 0}, Unit{"s", 9},
                               Unit{"", 3}};
/** Enough for any timeslice by far, and no overflow with nine decimals. */
constexpr std::uint64_t kMostNs = 1'000'000'000'000'000;

bool is_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == text.npos;
}

} // namespace

std::optional<std::uint64_t> parse_timespan_ns(std::string_view text) {
    Unit unit{};
    for (const Unit &candidate : kUnits)
        if (text.ends_with(candidate.name)) {
            unit = candidate;
            break;
        }
    text.remove_suffix(unit.name.size());
    const auto point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view part = point == text.npos ? "" : text.substr(point + 1);
    const auto decimals = static_cast<std::size_t>(unit.decimals);
    if (whole.empty() || !is_digits(whole) || !is_digits(part) || part.size() > decimals ||
        (point != text.npos && part.empty()))
        return std::nullopt;
    std::string digits(whole);
    digits.append(part).append(decimals - part.size(), '0');
    std::uint64_t ns;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), ns).ec != std::errc() ||
        ns > kMostNs)
        return std::nullopt;
    return ns;
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

/** Letters to change, add, leave out, or swap with their neighbour. */
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

std::vector<std::string> break_lines(std::string_view text,
                                     const std::function<bool(std::string_view)> &fits) {
    std::vector<std::string> lines;
    std::string line;
    while (!text.empty()) {
        const std::size_t blank = text.find(' ');
        const std::string word(text.substr(0, blank));
        text.remove_prefix(blank == text.npos ? text.size() : blank + 1);
        if (line.empty()) {
            line = word;
        } else if (const std::string longer = line + ' ' + word; fits(longer)) {
            line = longer;
        } else {
            lines.push_back(line);
            line = word;
        }
    }
    if (!line.empty())
        lines.push_back(line);
    return lines;
}

std::vector<std::string> break_lines(std::string_view text, std::size_t columns) {
    return break_lines(text, [&](std::string_view line) { return line.size() <= columns; });
}

} // namespace nvdebugctl
