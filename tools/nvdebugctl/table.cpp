// SPDX-License-Identifier: MIT OR GPL-2.0
#include "table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "units.hpp"

namespace nvdebugctl {
namespace {

std::string heading(const std::string &column) {
    std::string text(without_unit(column));
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

std::string padded(const std::string &text, std::size_t width) {
    return fmt::format("{:<{}}", text, width);
}

} // namespace

void print_table(const Json &rows, const std::vector<std::string> &columns, bool header,
                 Page &page) {
    std::vector<std::vector<std::string>> cells;
    if (header) {
        cells.emplace_back();
        std::ranges::transform(columns, std::back_inserter(cells.back()), heading);
    }
    for (const Json &row : rows) {
        cells.emplace_back();
        for (const std::string &column : columns)
            cells.back().push_back(shown(column, row.at(column)));
    }

    std::vector<std::size_t> widths(columns.size());
    for (const auto &row : cells)
        for (std::size_t i = 0; i < row.size(); i++)
            widths[i] = std::max(widths[i], row[i].size());

    for (std::size_t r = 0; r < cells.size(); r++) {
        std::string line;
        for (std::size_t i = 0; i < columns.size(); i++)
            line += i + 1 == columns.size() ? cells[r][i] : padded(cells[r][i], widths[i]) + "  ";
        page.line(header && r == 0 ? page.bold(line) : line);
    }
}

} // namespace nvdebugctl
