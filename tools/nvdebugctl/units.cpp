// SPDX-License-Identifier: MIT OR GPL-2.0
#include "units.hpp"

#include <array>
#include <cstdint>
#include <fmt/format.h>

#include "printable.hpp"

namespace nvdebugctl {
namespace {

struct Unit {
    std::string_view suffix;
    std::string (*show)(const Json &value);
};

std::string number(const Json &value) {
    return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

std::string bytes(const Json &value) {
    static constexpr std::array prefixes = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto amount = value.get<std::uint64_t>();
    std::size_t prefix = 0;
    while (amount >= 1024 && amount % 1024 == 0 && prefix + 1 < prefixes.size()) {
        amount /= 1024;
        prefix++;
    }
    return fmt::format("{}{}", amount, prefixes[prefix]);
}

constexpr std::array units = {
    Unit{"_us", [](const Json &value) { return number(value) + "us"; }},
    Unit{"_ns", [](const Json &value) { return number(value) + "ns"; }},
    Unit{"_bytes", bytes},
    Unit{"_percent", [](const Json &value) { return shown_percent(value.get<double>()); }},
};

const Unit *unit_of(std::string_view key) {
    for (const Unit &unit : units)
        if (key.ends_with(unit.suffix))
            return &unit;
    return nullptr;
}

} // namespace

std::string shown_percent(double percent) {
    if (percent == 0)
        return "0%";
    return percent < 0.05 ? "<0.1%" : fmt::format("{:.1f}%", percent);
}

std::string_view without_unit(std::string_view key) {
    const Unit *const unit = unit_of(key);
    return unit ? key.substr(0, key.size() - unit->suffix.size()) : key;
}

std::string shown(std::string_view key, const Json &value) {
    if (value.is_null())
        return "-";
    if (value.is_boolean())
        return value.get<bool>() ? "yes" : "no";
    if (value.is_string())
        return printable(value.get<std::string>());
    if (value.is_array()) {
        std::string text;
        for (const Json &element : value)
            text += (text.empty() ? "" : ",") + shown(key, element);
        return text.empty() ? "-" : text;
    }
    const Unit *const unit = unit_of(key);
    return unit ? unit->show(value) : number(value);
}

} // namespace nvdebugctl
