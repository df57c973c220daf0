// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The summary of a recording: its rows, its text, and their description.
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace nvdebugctl {

/// Returns the rows of the summary, one for each process on each engine.
[[nodiscard]] Json summary_rows(const Json &summary);
/// Returns whether any of the rows, or of the holders of an engine, is of a job on several GPUs.
[[nodiscard]] bool has_together(const Json &rows);
/// Prints the summary as text.
void show_summary(const Json &summary, Page &page);
[[nodiscard]] std::vector<Column> summary_columns();
[[nodiscard]] std::vector<Field> summary_fields();

} // namespace nvdebugctl
