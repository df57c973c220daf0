// SPDX-License-Identifier: MIT OR GPL-2.0
#include "natural_order.hpp"

#include <algorithm>

namespace nvdebug {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/** Takes the digits that @p rest begins with, without leading zeros. */
std::string_view take_digits(std::string_view &rest) {
    const auto *const end = std::find_if_not(rest.begin(), rest.end(), is_digit);
    std::string_view digits(rest.begin(), end);
    rest.remove_prefix(digits.size());
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

} // namespace

bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view m = take_digits(a);
            const std::string_view n = take_digits(b);
            if (m != n)
                return m.size() != n.size() ? m.size() < n.size() : m < n;
        } else {
            if (a.front() != b.front())
                return a.front() < b.front();
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty())
        return a.empty();
    return whole_a < whole_b;
}

} // namespace nvdebug
