// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Container, pod, job and step of a process: the same keys in all data that has a cgroup.
#pragma once

#include <vector>

#include "command.hpp"
#include "nvdebug/identity.hpp"

namespace nvdebugctl {

/// Returns `{"container", "pod", "job", "step"}`; null: the process is in none.
[[nodiscard]] Json identity(const nvdebug::Identity &id);

/// Inserts container, pod, job and step before the column of the cgroup.
[[nodiscard]] std::vector<Column> columns_with_identity(std::vector<Column> columns);
[[nodiscard]] std::vector<Field> fields_with_identity(std::vector<Field> fields);

} // namespace nvdebugctl
