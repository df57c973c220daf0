// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/timespan.hpp"

#include <array>
#include <charconv>
#include <string>

namespace nvdebugctl {
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

} // namespace nvdebugctl
