// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Values that completion in shells offers, as they are on this machine now.
#pragma once

#include <string>
#include <vector>

namespace nvtaskset {

/// Returns `all`, and each GPU by number with its PCI address.
[[nodiscard]] std::vector<std::string> gpu_candidates(const std::string &typed);
/// Returns the PIDs of all processes with their commands.
[[nodiscard]] std::vector<std::string> process_candidates(const std::string &typed);
/// Returns the folders that begin as @p typed does.
[[nodiscard]] std::vector<std::string> folder_candidates(const std::string &typed);

} // namespace nvtaskset
