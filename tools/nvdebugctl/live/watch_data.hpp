// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The data of `watch`, for programs and lines.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "residency.hpp"

namespace nvdebugctl {

/// Returns the `data` of nvdebug/watch.
[[nodiscard]] Json watch_json(const Sample &sample, const Residency &residency,
                              std::chrono::milliseconds period);

/// Returns a row for each engine of @p data, with the columns of `watch`.
[[nodiscard]] Json watch_rows(const Json &data);

/// Writes the rows of one sample after the other below one header, in columns that only grow.
class RowWriter {
  public:
    struct Form {
        std::vector<std::string> columns; ///< names of the columns, in order
        bool csv, header, color;
        std::vector<Column> known = {}; ///< all columns of the command, for their headings
    };
    explicit RowWriter(Form form) : form_(std::move(form)) {}

    [[nodiscard]] std::string text(const Json &rows);

  private:
    Form form_;
    std::vector<std::size_t> widths_;
};

} // namespace nvdebugctl
