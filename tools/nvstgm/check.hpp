// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Bounds as data: what `check` and `allocate` show of each task.
#pragma once

#include <span>

#include "forms.hpp"

namespace nvstgm {

/// One for each task, in the order of the file.
Json rows_of(const stgm::TaskSet &set, std::span<const stgm::Bound> bounds, stgm::Method method);
/// `data` of a document.
Json data_of(const stgm::TaskSet &set, const stgm::Options &options, bool schedulable, Json rows);
std::vector<Column> task_columns();

} // namespace nvstgm
