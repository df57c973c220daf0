// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps windows for tenants that need several GPUs at once, beside the governors of the GPUs.
///
/// At first each group of tenants that share GPUs (window_groups()) is watched while the governors
/// of its GPUs keep the goals. If all of its gangs run together anyway, it is left as it is. Else
/// windows are tried. They go on unless the record of turns shows that they slow the jobs down
/// (do_windows_help()). After a minute the choice is looked at again.
///
/// A WindowKeeper is for all GPUs of a machine. It does no input or output and has no thread: it is
/// told the tenants of each GPU and their turns, and returns orders. Its caller reads the turns of
/// all GPUs, calls step(), and carries the orders out. nvqos does so on hardware, and
/// simulation::Gangs for simulated GPUs. All times are of one clock for all GPUs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gangs.hpp"

namespace qos {

/// A tenant with tasks on a GPU whose timeslices and pauses can be set.
struct TenantOnGpu {
    std::string name; ///< the same on all GPUs
    Goal goal = {};
    bool is_gang = true; ///< false: its ranks do not wait for each other
    bool operator==(const TenantOnGpu &) const = default;
};

/// A turn of a tenant on a GPU, or the part of one since the last call.
struct WindowTurn {
    std::string tenant;
    Ns begin, end;
    bool gave_way; ///< it ended before its timeslice was over, and no change of levers ended it
};

/// The turns on a GPU since the last call, in the order of time.
struct WindowTurns {
    std::uint32_t gpu;
    std::vector<WindowTurn> turns;
};

/// The lever of all tasks of a tenant on a GPU.
struct TenantLever {
    std::string tenant;
    WindowLever lever;
    bool operator==(const TenantLever &) const = default;
};

/// What is to be done on a GPU.
struct WindowOrder {
    std::uint32_t gpu;
    /// Windows decide over timeslices and pauses there. If not, its governor decides from now on: a
    /// new one, which owes nothing.
    bool has_windows;
    /// The levers of all tenants there, if it has windows. Those in `first` let a holder run. On all
    /// GPUs they are in effect before those in `then`, which hold the others back: so a gang has its
    /// GPUs at once for longer, as the first half changes nothing while the former holder has its
    /// long timeslice.
    std::vector<TenantLever> first = {}, then = {};
};

/// What is known of a gang.
struct GangReport {
    bool has_windows = false;
    /// together_of() over the last time that was counted: while windows are tried or watched for,
    /// that time, and else the last cycle. Empty: it had no turns.
    std::optional<Part> together = {};
    /// A sentence without a dot on why it has windows or none; empty: it is still watched.
    std::string why = {};
};

class WindowKeeper {
  public:
    explicit WindowKeeper(const WindowSettings &settings = {});

    /// Takes the tenants that a GPU has now. A GPU that is left out has none.
    void set_tenants(std::uint32_t gpu, std::vector<TenantOnGpu> tenants, Ns now);
    /// Returns when step() is to be called; the largest number: no tenant is a gang.
    Ns due() const;
    /// Returns the GPUs whose turns step() takes.
    std::vector<std::uint32_t> gpus() const;
    /// Decides, when it is due.
    /// @param turns of all GPUs of gpus(); a GPU that did not answer in time is left out
    /// @returns the GPUs on which something changes
    std::vector<WindowOrder> step(Ns now, std::span<const WindowTurns> turns);

    /// Returns what is known of a tenant; empty: it is no gang, or nobody else is on its GPUs.
    std::optional<GangReport> report(const std::string &tenant) const;
};

} // namespace qos
