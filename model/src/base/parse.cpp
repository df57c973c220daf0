// SPDX-License-Identifier: MIT OR GPL-2.0
#include "base/parse.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nvmodel {

std::optional<std::uint64_t> parse_number(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const std::string_view digits = hex ? text.substr(2) : text;
    std::uint64_t value = 0;
    const char *const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
    if (digits.empty() || error != std::errc{} || rest != end)
        return std::nullopt;
    return value;
}

std::optional<double> parse_decimal(std::string_view text) {
    double value = 0;
    const char *const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end || !std::isfinite(value) || std::signbit(value))
        return std::nullopt;
    return value;
}

std::vector<std::string> split_words(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<std::string> words;
    for (;;) {
        const auto begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos)
            return words;
        text.remove_prefix(begin);
        const auto length = std::min(text.find_first_of(blanks), text.size());
        words.emplace_back(text.substr(0, length));
        text.remove_prefix(length);
    }
}

} // namespace nvmodel
