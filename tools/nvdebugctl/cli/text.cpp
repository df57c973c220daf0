// SPDX-License-Identifier: MIT OR GPL-2.0
#include "text.hpp"

#include <algorithm>
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
