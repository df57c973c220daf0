// SPDX-License-Identifier: MIT OR GPL-2.0
#include "page.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "units.hpp"

namespace nvdebugctl {
namespace {

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

std::string Page::styled(std::string_view code, std::string_view text) const {
    return color_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
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
