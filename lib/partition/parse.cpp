// SPDX-License-Identifier: MIT OR GPL-2.0
#include "parse.hpp"

#include <algorithm>
#include <charconv>

namespace nvtaskset {
namespace {

template <typename Number>
std::optional<Number> number(std::string_view text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty()
               ? std::optional(value)
               : std::nullopt;
}

/// Returns the value of a hexadecimal digit, or 16 for other characters.
unsigned digit_value(char digit) {
    constexpr std::string_view digits = "0123456789abcdef";
    return static_cast<unsigned>(std::min(digits.find(digit), digits.size()));
}

} // namespace

std::string_view take_until(std::string_view &rest, char end) {
    const std::string_view word = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
}

std::optional<Bits> parse_bits(std::string_view text) {
    Bits bits{};
    if (text.empty() || text.size() > bits.size() * 8)
        return std::nullopt;
    for (std::size_t digit = 0; digit < text.size(); digit++) {
        const unsigned value = digit_value(text[text.size() - 1 - digit]);
        if (value > 0xf)
            return std::nullopt;
        bits[digit / 8] |= value << digit % 8 * 4;
    }
    return bits;
}

std::optional<Uuid> parse_uuid(std::string_view text) {
    constexpr std::string_view form = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (text.size() != form.size())
        return std::nullopt;
    Uuid uuid{};
    std::size_t digits = 0;
    for (std::size_t at = 0; at < form.size(); at++) {
        if (form[at] != 'x') {
            if (text[at] != form[at])
                return std::nullopt;
            continue;
        }
        const unsigned value = digit_value(text[at]);
        if (value > 0xf)
            return std::nullopt;
        std::uint8_t &byte = uuid[digits++ / 2];
        byte = static_cast<std::uint8_t>(byte << 4 | value);
    }
    return uuid;
}

std::optional<Partition> parse_partition(std::string_view text) {
    const auto uuid = parse_uuid(take_until(text, ':'));
    const auto disabled = parse_bits(take_until(text, ':'));
    const auto exists = parse_bits(take_until(text, ':'));
    const auto sms = number<std::uint32_t>(take_until(text, ':'));
    const auto largest_gpc = number<std::uint32_t>(text);
    if (!uuid || !disabled || !exists || !sms || !largest_gpc)
        return std::nullopt;
    return Partition{*uuid, *disabled, *exists, *sms, *largest_gpc};
}

std::optional<PageName> parse_page_name(std::string_view text) {
    const auto pid = number<pid_t>(take_until(text, ':'));
    const auto descriptor = number<int>(take_until(text, ':'));
    const auto inode = number<ino_t>(text);
    if (!pid || *pid <= 0 || !descriptor || *descriptor < 0 || !inode)
        return std::nullopt;
    return PageName{*pid, *descriptor, *inode};
}

} // namespace nvtaskset
