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

struct ContextSwitch {
    std::uint64_t ns;      ///< by the GPU's clock
    bool starts;           ///< else it ends
    std::uint32_t context; ///< the driver's name of the TSG or channel; 0: hidden
    std::uint32_t pid;     ///< 0: hidden from this user; 0xffffffff: the driver's own
    bool operator==(const ContextSwitch &) const = default;
};

struct ContextSwitches {
    std::uint64_t dropped = 0; ///< switches that were not kept
    /// When it began and ended by the GPU's clock; empty: only root may read that.
    std::optional<std::uint64_t> begin_ns, end_ns;
    std::vector<ContextSwitch> switches; ///< oldest first
};

/// Switches as they happen (Gpu::follow_switches()), of all users for root, of own processes for
/// others. While it lives the GPU stays powered up. One thread at a time.
class SwitchReader {
  public:
    virtual ~SwitchReader() = default;
    /// Adds those since the last call, oldest first. @returns how many the driver has dropped since
    /// the start: it keeps 65,535, and drops what comes when they have not been read.
    virtual Result<std::uint64_t> read(std::vector<ContextSwitch> &switches) = 0;
    /// The GPU's clock now, in which the times of switches are.
    virtual Result<std::uint64_t> now_ns() = 0;
    /// A process of ContextSwitch::pid as it is now. Of one that has ended, is hidden, does not
    /// have the GPU open, or is of another PID namespace (sees_processes()) nothing but the pid is
    /// known; of any other Process::started is, by which it differs from a later one of this number
    /// (same_process()).
    virtual Process process(std::uint32_t pid) = 0;
    /// Only when the process of this number was started, whatever it has open: for a look at each
    /// turn. This, process() and sees_processes() may be called by any thread.
    virtual std::optional<std::uint64_t> started(std::uint32_t pid) { return process(pid).started; }
    /// Are pids in switches, which the driver counts as the host does, those of this process'
    /// `/proc`? Not in a container with a PID namespace of its own.
    virtual bool sees_processes() { return true; }
};

/// Which part of the time each process' contexts were on the engine, from 0 to 1, by pid. A context
/// is on it until another comes, also when it has no work. Without a beginning and an end the time
/// is that from the first to the last switch. Empty where nothing was switched, or some were
/// dropped.
NVDEBUG_API std::map<std::uint32_t, double> residency(const ContextSwitches &record);

} // namespace nvdebug
