// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The TPCs that nvtaskset(1) keeps a process to.
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.hpp"
#include "cli/failure.hpp"

namespace nvdebugctl {

/// `tpcs`: to how many of the command's GPU; null: all, or not known. `kept`: whether nvtaskset
/// keeps all launches to what was asked for; null: nothing was, or not known. Of a capture nothing
/// is known: its pids name no process any more.
[[nodiscard]] Json keeping_of(const Context &context, std::uint32_t pid);

/// Runs `nvtaskset -p OPTION VALUE PID`, which prints its own errors.
[[nodiscard]] Outcome<void> set_tpcs(std::uint32_t pid, const std::string &pci_address,
                                     const std::string &option, const std::string &value);

/// nvtaskset beside this tool, else the one in PATH.
[[nodiscard]] std::string nvtaskset_path();

} // namespace nvdebugctl
