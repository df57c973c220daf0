// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/fitted_table.hpp"

#include <algorithm>
#include <cstdint>

#include "lib/base/lines.hpp"
#include "lib/base/words.hpp"

namespace nvdebug::cli {
namespace {

std::size_t widest_in(const std::vector<Row> &rows, std::size_t column) {
    std::size_t widest = 0;
    for (const Row &row : rows)
        widest = std::max(widest, base::width_of(row[column]));
    return widest;
}

/// Chooses columns and shortens cells until all fits.
class Fitting {
  public:
    Fitting(std::span<const Column> columns, std::vector<Row> &rows, std::size_t width)
        : columns_(columns), rows_(rows) {
        for (std::size_t n = 0; n < columns.size(); n++) {
            shown.push_back(n);
            widths_.push_back(widest_in(rows, n));
        }
        while (sum() > width && leave_out()) {
        }
        while (sum() > width && shorten_widest()) {
        }
    }

    std::vector<std::size_t> shown;
    std::vector<std::string> left_out;

  private:
    std::size_t sum() const {
        std::size_t all = 0;
        for (const std::size_t n : shown)
            all += widths_[n] + 2;
        return all - 2;
    }

    bool leave_out() {
        const auto least = std::ranges::min_element(shown, {}, [this](std::size_t n) {
            return static_cast<unsigned>(columns_[n].importance) - 1; // 0 becomes the largest
        });
        if (columns_[*least].importance == 0)
            return false;
        left_out.emplace_back(columns_[*least].name);
        shown.erase(least);
        return true;
    }

    bool shorten_widest() {
        constexpr std::size_t least = 8;
        const std::size_t widest =
            *std::ranges::max_element(shown, {}, [this](std::size_t n) { return widths_[n]; });
        if (widths_[widest] <= least)
            return false;
        const std::size_t width = --widths_[widest];
        for (Row &row : rows_)
            if (base::width_of(row[widest]) > width)
                row[widest] = base::cut_text(row[widest], width - 1) + "\u2026";
        return true;
    }

    const std::span<const Column> columns_;
    std::vector<Row> &rows_;
    std::vector<std::size_t> widths_;
};

} // namespace

Table fitted(std::span<const Column> columns, std::vector<Row> rows,
             std::optional<std::size_t> width) {
    Row names;
    for (const Column &column : columns)
        names.emplace_back(column.name);
    rows.insert(rows.begin(), std::move(names));
    const Fitting fitting(columns, rows, width.value_or(SIZE_MAX));
    Table table;
    if (!fitting.left_out.empty())
        table.note = std::to_string(*width) + " columns have no room for " +
                     base::listed(fitting.left_out, " and ") +
                     "; a wider terminal shows all, and so does a pipe";
    for (const Row &row : rows) {
        std::string line;
        for (const std::size_t n : fitting.shown) {
            const std::string blanks(widest_in(rows, n) - base::width_of(row[n]), ' ');
            line += (n == fitting.shown.front() ? "" : "  ") +
                    (columns[n].is_left ? row[n] + blanks : blanks + row[n]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        table.lines.push_back(std::move(line));
    }
    return table;
}

} // namespace nvdebug::cli
