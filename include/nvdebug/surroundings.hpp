// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Obstacles that hide GPUs of the machine from a process.
#pragma once

#include <string>
#include <vector>

#include "nvdebug/export.hpp"

namespace nvdebug {

/// A reason for which this process sees no GPUs, even if the machine has some.
struct Obstacle {
    enum class Kind {
        wsl,            ///< the Windows Subsystem for Linux: no GPU's registers are in reach
        no_proc,        ///< /proc is not mounted here
        processes_only, ///< /proc was mounted with subset=pid (systemd: ProcSubset=pid)
        no_sys,         ///< /sys is not mounted here
    };
    Kind kind;
    std::string finding; ///< a sentence without its full stop
    std::string fix;     ///< advice for the user

    bool operator==(const Obstacle &) const = default;
};

/// Returns the obstacles between this process and the machine's GPUs, the worst first.
/// @param root is put before /proc and /sys; empty for the machine itself
NVDEBUG_API std::vector<Obstacle> obstacles(const std::string &root = "");

/// Returns the first of obstacles() as "FINDING; FIX"; empty: there is none.
NVDEBUG_API std::string first_obstacle(const std::string &root = "");

} // namespace nvdebug
