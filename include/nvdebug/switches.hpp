// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Context switches of the graphics engine GR0, as NVIDIA's driver records them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "nvdebug/error.hpp"
#include "nvdebug/export.hpp"
#include "nvdebug/owner.hpp"

namespace nvdebug {

/// The moment at which a context came to the engine or left it.
struct ContextSwitch {
    std::uint64_t ns;      ///< by the GPU's clock
    bool starts;           ///< false: the context leaves the engine
    std::uint32_t context; ///< the driver's name of the TSG or channel; 0: hidden from this user
    std::uint32_t pid;     ///< 0: hidden from this user; 0xffffffff: the driver's own
    bool operator==(const ContextSwitch &) const = default;
};

/// A record of context switches.
struct ContextSwitches {
    std::uint64_t dropped = 0; ///< switches that were lost
    /// When the record began and ended by the GPU's clock; empty: only root may read the clock.
    std::optional<std::uint64_t> begin_ns, end_ns;
    std::vector<ContextSwitch> switches; ///< from the oldest to the newest
};

/// Reads context switches as they happen (Gpu::follow_switches()). Root gets the switches of all
/// users, others those of their own processes. While a reader exists, the GPU stays powered up.
/// Only one thread may use a reader at a time.
class SwitchReader {
  public:
    virtual ~SwitchReader() = default;
    /// Adds the switches since the last call, oldest first. @returns how many switches the driver
    /// has dropped since the start. The driver keeps 65,535, and drops new ones while these are
    /// unread.
    virtual Result<std::uint64_t> read(std::vector<ContextSwitch> &switches) = 0;
    /// Returns the GPU's clock, by which switches have their times.
    virtual Result<std::uint64_t> now_ns() = 0;
    /// Returns the present process with the number ContextSwitch::pid. Only the pid is known of a
    /// process that has ended, is hidden, does not have the GPU open, or is of another PID
    /// namespace (sees_processes()). Otherwise Process::started is known, too, by which the process
    /// differs from a later one with its number (same_process()).
    virtual Process process(std::uint32_t pid) = 0;
    /// Returns when the process with this number was started, whatever files it has open. This is
    /// cheap enough for each turn. Any thread may call this, process() and sees_processes().
    virtual std::optional<std::uint64_t> started(std::uint32_t pid) { return process(pid).started; }
    /// Returns whether pids in switches, which are the host's numbers, are those of this process's
    /// `/proc`. They are not in a container with its own PID namespace.
    virtual bool sees_processes() { return true; }
};

/// Returns the part of the time, from 0 to 1, that contexts of each process were on the engine, by
/// pid. A context stays on the engine until another comes, even without work. Without a begin and
/// an end, the time from the first to the last switch counts. Empty if there were no switches, or
/// if some were dropped.
NVDEBUG_API std::map<std::uint32_t, double> residency(const ContextSwitches &record);

} // namespace nvdebug
