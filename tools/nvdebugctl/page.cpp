// SPDX-License-Identifier: MIT OR GPL-2.0
#include "page.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "printable.hpp"
#include "units.hpp"

namespace nvdebugctl {
namespace {

constexpr std::string_view bold_style = "\033[1m", dim_style = "\033[2m",
                           warning_style = "\033[31m", reset = "\033[0m";
constexpr std::array styles = {bold_style, dim_style, warning_style, reset};

std::string label(std::string_view key) {
    std::string text(without_unit(key));
    std::ranges::replace(text, '_', ' ');
    return text;
}

bool is_place(const Json &value) {
    return value.is_object() && value.size() == 2 && value.contains("address") &&
           value.contains("aperture");
}

bool is_list_of_objects(const Json &value) {
    return value.is_array() && !value.empty() && value.front().is_object();
}

} // namespace

std::string Page::bold(std::string_view text) const {
    return styled(bold_style, text);
}

std::string Page::dim(std::string_view text) const {
    return styled(dim_style, text);
}

std::string Page::warning(std::string_view text) const {
    return styled(warning_style, text);
}

std::string Page::styled(std::string_view style, std::string_view text) const {
    return color_ ? fmt::format("{}{}{}", style, printable(text), reset) : std::string(text);
}

void Page::line(std::string_view text) {
    while (!text.empty()) {
        const auto style = std::ranges::find_if(
            styles, [&](std::string_view each) { return color_ && text.starts_with(each); });
        const std::string_view part =
            style != styles.end() ? *style : text.substr(0, text.find('\033', 1));
        text_ += style != styles.end() ? std::string(part) : printable(part);
        text.remove_prefix(part.size());
    }
    text_ += '\n';
}

void print_fields(const Json &data, Page &page, int indent) {
    for (const auto &[key, value] : data.items()) {
        const std::string name = fmt::format("{:{}}{}:", "", indent, page.bold(label(key)));
        if (is_place(value)) {
            page.line(fmt::format("{} {} {}", name, shown(key, value["address"]),
                                  shown(key, value["aperture"])));
        } else if (value.is_object()) {
            page.line(name);
            print_fields(value, page, indent + 2);
        } else if (is_list_of_objects(value)) {
            page.line(name);
            for (std::size_t i = 0; i < value.size(); i++) {
                if (i > 0)
                    page.line("");
                print_fields(value[i], page, indent + 2);
            }
        } else {
            page.line(fmt::format("{} {}", name, shown(key, value)));
        }
    }
}

} // namespace nvdebugctl
