// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Container, pod, job and step of a process: the same keys in all data that has a cgroup.
#pragma once

#include <vector>

#include "command.hpp"
#include "lib/base/pod_names.hpp"
#include "nvdebug/identity.hpp"

namespace nvdebugctl {

/// Returns `{"container", "pod", "job", "step"}`; null: the process is in none.
[[nodiscard]] Json identity(const nvdebug::Identity &id);

/// The keys of the names of a pod, which set_pod_name() sets.
[[nodiscard]] const std::vector<Field> &pod_name_keys();

/// Sets `"namespace"`, `"pod_name"` and `"container_name"` of a row; null: not known.
void set_pod_name(Json &row, const std::optional<nvdebug::base::PodName> &name);

/// Returns the ids of the row's container and pod, as identity() has them.
[[nodiscard]] nvdebug::Identity pod_ids_of(const Json &row);

/// Inserts container, pod, job and step before the column of the cgroup.
[[nodiscard]] std::vector<Column> columns_with_identity(std::vector<Column> columns);
[[nodiscard]] std::vector<Field> fields_with_identity(std::vector<Field> fields);

} // namespace nvdebugctl
