// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads and sets the TPCs to which nvtaskset(1) keeps a process.
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.hpp"
#include "cli/failure.hpp"

namespace nvdebugctl {

/// Returns two keys. `tpcs` is the number of TPCs of the command's GPU that the process may use;
/// null: all, or not known. `kept` says whether nvtaskset keeps all launches to the TPCs that were
/// asked for; null: none were asked for, or not known. In a capture both are null, because its pids
/// name no process any more.
[[nodiscard]] Json keeping_of(const Context &context, std::uint32_t pid);

/// Runs `nvtaskset -p OPTION VALUE PID`, which prints its own errors.
[[nodiscard]] Outcome<void> set_tpcs(std::uint32_t pid, const std::string &pci_address,
                                     const std::string &option, const std::string &value);

/// Returns the path of nvtaskset beside this tool, or else of the one in PATH.
[[nodiscard]] std::string nvtaskset_path();

} // namespace nvdebugctl
