// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The TPCs that nvtaskset(1) keeps a process to. */
#ifndef NVDEBUGCTL_TPCS_HPP
#define NVDEBUGCTL_TPCS_HPP

#include <cstdint>
#include <string>

#include "cli/command.hpp"
#include "cli/failure.hpp"

namespace nvdebugctl {

/**
 * `tpcs`: how many of the GPU at @p pci_address; null: all, or not known. `kept`: whether nvtaskset keeps
 * all launches to what was asked for; null: nothing was, or not known.
 */
Json keeping_of(std::uint32_t pid, const std::string &pci_address);

/** Runs `nvtaskset -p OPTION VALUE PID`, which prints its own errors. */
Outcome<void> set_tpcs(std::uint32_t pid, const std::string &pci_address, const std::string &option,
                       const std::string &value);

/** nvtaskset beside this tool, else the one in PATH. */
std::string nvtaskset_path();

} // namespace nvdebugctl

#endif
