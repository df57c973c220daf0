// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Tables that fit a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvdebug::cli {

struct Column {
    std::string_view name;
    bool is_left;   ///< the text is aligned to the left
    int importance; ///< the column with the least importance is left out first; 0: never
};

using Row = std::vector<std::string>; ///< a cell for each column, printable

struct Table {
    std::vector<std::string> lines; ///< a line of column names, and one for each row
    std::string note;               ///< a sentence on columns that are left out; empty: none are
};

/// Returns the table in lines of @p width columns at most, as far as it can be cut so: columns are
/// left out first, and then cells are shortened.
/// @param width empty: no limit
Table fitted(std::span<const Column> columns, std::vector<Row> rows,
             std::optional<std::size_t> width);

} // namespace nvdebug::cli
