// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Cgroups of processes: paths, and the ids that runtimes write into them.
#pragma once

#include <string>
#include <string_view>

#include "nvdebug/identity.hpp"

namespace nvdebug::base {

/// Returns the ids that the path of a cgroup has, by the rules of nvdebug::identity_of(). A path
/// that begins with `/..` is relative to the cgroup of a reader in a cgroup namespace
/// (cgroup_namespaces(7)), and leads out of it.
[[nodiscard]] Identity identity_in(std::string_view path);

/// Returns one path of the text of /proc/PID/cgroup, or nothing if the text has no path. With
/// version 1 of cgroups the text has a path for each controller. The path with the most ids is
/// returned, and the longest of several with equally many.
[[nodiscard]] std::string path_in(std::string_view text);

/// Returns whether @p text is the name that cgroups give a step of a Slurm job: `0`, `0+1` (of a
/// heterogeneous job), `batch`, `extern`, `interactive`.
[[nodiscard]] bool is_step(std::string_view text);

/// Returns whether the path @p cgroup is @p path, or below it.
[[nodiscard]] bool is_below(std::string_view cgroup, std::string_view path);

} // namespace nvdebug::base
