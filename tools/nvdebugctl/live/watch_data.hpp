// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What `watch` shows as data, for programs and lines.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "residency.hpp"

namespace nvdebugctl {

/// `data` of nvdebug/watch.
[[nodiscard]] Json watch_json(const Sample &sample, const Residency &residency,
                              std::chrono::milliseconds period);

/// @p data, a row for each engine with the columns of `watch`.
[[nodiscard]] Json watch_rows(const Json &data);

/// Rows of one sample after the other under one header, in columns that only grow.
class RowWriter {
  public:
    struct Form {
        std::vector<std::string> columns; ///< their names, in order
        bool csv, header, color;
        std::vector<Column> known = {}; ///< all of the command, for their headings
    };
    explicit RowWriter(Form form) : form_(std::move(form)) {}

    [[nodiscard]] std::string text(const Json &rows);

  private:
    Form form_;
    std::vector<std::size_t> widths_;
};

} // namespace nvdebugctl
