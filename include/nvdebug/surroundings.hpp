// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief What keeps a process from seeing GPUs that the machine may have.
#pragma once

#include <string>
#include <vector>

#include "nvdebug/export.hpp"

namespace nvdebug {

/// A reason for which "no GPU" is not known, or cannot be otherwise.
struct Obstacle {
    enum class Kind {
        wsl,            ///< the Windows Subsystem for Linux: no GPU's registers are in reach
        no_proc,        ///< /proc is not mounted here
        processes_only, ///< /proc was mounted with subset=pid (systemd: ProcSubset=pid)
        no_sys,         ///< /sys is not mounted here
    };
    Kind kind;
    std::string finding; ///< a sentence without its full stop
    std::string fix;     ///< what to do about it

    bool operator==(const Obstacle &) const = default;
};

/// Returns what stands between this process and the machine's GPUs, the worst first; empty:
/// nothing.
///
/// @param root is put before /proc and /sys; empty for the machine itself
NVDEBUG_API std::vector<Obstacle> obstacles(const std::string &root = "");

/// Returns the first of obstacles() as "FINDING; FIX"; empty: there is none.
NVDEBUG_API std::string first_obstacle(const std::string &root = "");

} // namespace nvdebug
