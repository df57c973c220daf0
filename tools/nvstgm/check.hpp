// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Bounds as data, which `check` and `allocate` show for each task.
#pragma once

#include <span>

#include "forms.hpp"

namespace nvstgm {

/// Returns a row for each task, in the order of the file.
Json rows_of(const stgm::TaskSet &set, std::span<const stgm::Bound> bounds, stgm::Method method);
/// Returns `data` of a document (forms.hpp).
Json data_of(const stgm::TaskSet &set, const stgm::Options &options, bool schedulable, Json rows);
std::vector<Column> task_columns();
/// Returns the unit of the set's times as sentences have it: `us` or `ticks`.
std::string unit_of(const stgm::TaskSet &set);
/// Returns the sentence below the table: schedulable or not, by which analysis, and the unit.
std::string verdict_on(const stgm::TaskSet &set, std::span<const stgm::Bound> bounds,
                       stgm::Method method);

/// Returns a number with one digit behind the point, for a percentage in JSON.
double rounded(double number);

/// How messages name the form of a file with a task set.
inline constexpr const char *set_form = "FILE.json or FILE for a task set in JSON";

} // namespace nvstgm
