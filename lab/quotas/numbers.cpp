// SPDX-License-Identifier: MIT OR GPL-2.0
#include "numbers.hpp"

#include <algorithm>
#include <charconv>

namespace quotas {

using nvdebug::base::in_quotes;
using nvdebug::base::wrong;
using qos::Rational;

namespace {

constexpr std::size_t most_digits = 18;

bool is_digits(std::string_view text) {
    return !text.empty() && text.size() <= most_digits &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

qos::Integer whole(std::string_view digits) {
    return qos::Integer(std::string(digits), 10);
}

/** Reads `3`, `3/4` or `0.75`. Returns nothing if the text is no such number, or too long. */
std::optional<Rational> rational_of(std::string_view text) {
    if (const std::size_t bar = text.find('/'); bar != text.npos) {
        const std::string_view above = text.substr(0, bar), below = text.substr(bar + 1);
        if (!is_digits(above) || !is_digits(below) || whole(below) == 0)
            return std::nullopt;
        return qos::fraction(whole(above), whole(below));
    }
    const std::size_t point = text.find('.');
    if (point == text.npos)
        return is_digits(text) ? std::optional<Rational>(whole(text)) : std::nullopt;
    const std::string_view before = text.substr(0, point), after = text.substr(point + 1);
    if (!is_digits(before) || !is_digits(after))
        return std::nullopt;
    qos::Integer scale;
    mpz_ui_pow_ui(scale.get_mpz_t(), 10, after.size());
    return qos::fraction(whole(before) * scale + whole(after), scale);
}

} // namespace

Rational rational(const Place &place, const Rational &least) {
    std::string text;
    if (place.value.is_string()) {
        text = place.value.get<std::string>();
    } else if (place.value.is_number_float()) {
        char digits[400];
        const auto end = std::to_chars(digits, digits + sizeof(digits), place.value.get<double>(),
                                       std::chars_format::fixed);
        text.assign(digits, end.ptr);
    } else if (place.value.is_number()) {
        text = place.value.dump();
    } else {
        wrong(place.where(), "is neither a number nor a text like \"3/4\"");
    }
    const std::optional<Rational> found = rational_of(text);
    if (text.starts_with('-') && rational_of(std::string_view(text).substr(1)))
        wrong(place.where(), in_quotes(text) + " is less than " + least.get_str());
    if (!found)
        wrong(place.where(), in_quotes(text) +
                                 " is not a number like 3, 0.75 or 3/4 with at most " +
                                 std::to_string(most_digits) + " digits in each part");
    if (*found < least)
        wrong(place.where(), in_quotes(text) + " is less than " + least.get_str());
    return *found;
}

std::int64_t count(const Place &place, std::int64_t least, std::int64_t most) {
    const Rational found = rational(place, 0);
    if (found.get_den() != 1)
        wrong(place.where(), "is not a whole number");
    if (found < Rational(least) || found > Rational(most))
        wrong(place.where(), found.get_str() + " is not from " + std::to_string(least) + " to " +
                                 std::to_string(most));
    return found.get_num().get_si();
}

bool truth(const Place &place) {
    if (!place.value.is_boolean())
        wrong(place.where(), "is neither true nor false");
    return place.value.get<bool>();
}

bool is_there(const Place &place, const char *key) {
    return place.has(key) && !place.value.at(key).is_null();
}

} // namespace quotas
