// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps windows for tenants that need several GPUs at once, beside the governors of the GPUs.
///
/// At first each group of tenants that share GPUs (window_groups()) is watched while the governors
/// of its GPUs keep the goals. If all of its gangs run together anyway, it is left as it is. Else
/// windows are tried. They go on unless the record of turns shows that they slow the jobs down
/// (do_windows_help()). After a minute the choice is looked at again.
///
/// A WindowKeeper is for all GPUs of a machine. It does no input or output and has no thread: it gets
/// the tenants of each GPU and their turns, and returns orders. Its caller reads the turns of
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

/// A tenant on a GPU. The timeslices and pauses of its tasks there can be set.
struct TenantOnGpu {
    std::string name; ///< the same on all GPUs
    Goal goal = {};
    bool is_gang = true;            ///< false: its ranks do not wait for each other
    bool is_on_other_nodes = false; ///< for a ClockKeeper; a WindowKeeper does not look at it
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

/// A change of the levers on a GPU.
struct WindowOrder {
    std::uint32_t gpu;
    /// Windows decide over timeslices and pauses there. If not, its governor decides from now on: a
    /// new one, which owes nothing.
    bool has_windows;
    /// The levers of all tenants there, if it has windows. Those in `first` let a holder run, and are
    /// in effect before those in `then`, which hold the others back. HandOver has the order among
    /// GPUs.
    std::vector<TenantLever> first = {}, then = {};
};

/// The state of a gang, for people.
struct GangReport {
    bool has_windows = false;
    /// together_of() over the last time that was counted: while windows are tried or watched for,
    /// that time, and else the last cycle. Empty: it had no turns.
    std::optional<Part> together = {};
    /// A sentence without a dot on why it has windows or none; empty: it is still watched.
    std::string why = {};
};

/// Tenants that are linked by the GPUs which they share, as a WindowKeeper keeps them.
struct WindowGroup {
    enum class State {
        watched, ///< as it is, until it is known whether windows are needed
        tried,   ///< has windows, which are compared with the time before
        windows, ///< has windows
        left,    ///< as it is, because windows are not needed or do not help
    };
    /// A tenant on a GPU. All was seen since the present state or cycle of windows began.
    struct Rank {
        std::vector<TurnSpan> turns = {};
        RankWindows had = {};
        std::int64_t gave_way = 0;    ///< WindowTurn::gave_way
        std::int64_t gave_way_in = 0; ///< the same in its windows
        Ns waited = 0;                ///< TenantProgress::waited
        std::optional<Ns> waits_since = {};
        Ns counted_until = 0;
        bool is_whole = true; ///< the turns of all that time have come
    };
    struct Member {
        std::string name; ///< TenantOnGpu::name
        std::vector<Rank> ranks = {};
        std::optional<Part> together = {}; ///< GangReport::together
    };
    State state = State::watched;
    Ns since = 0;                            ///< the state
    std::vector<GangTenant> tenants = {};    ///< in the order of names
    std::vector<Member> members = {};        ///< by tenant
    std::vector<std::uint32_t> gpus = {};    ///< in order
    std::vector<TenantProgress> before = {}; ///< by tenant, without windows
    WindowNeed need = WindowNeed::none;
    Ns stands_for = 0; ///< State::windows and left, if there is a need: until it is looked at again
    WindowPlan plan = {};
    std::size_t row = 0;
    Ns counted_at = 0; ///< turns until then were counted
    Ns due = 0;        ///< the next decision

    bool has_windows() const { return state == State::tried || state == State::windows; }
    /// Returns whether it is left as it is for a time, whatever the record of turns shows.
    bool stands() const { return state == State::left && need != WindowNeed::none; }
};

class WindowKeeper {
  public:
    explicit WindowKeeper(const WindowSettings &settings = {}) : settings_(settings) {}

    /// Takes the tenants that a GPU has now. A GPU that is left out has none.
    void set_tenants(std::uint32_t gpu, std::vector<TenantOnGpu> tenants, Ns now);
    /// Returns when step() is to be called, which may also be called earlier; the largest number: no
    /// tenant is a gang. With gangs it is a second later at most, so that few turns are to be kept.
    Ns due() const;
    /// Returns the GPUs from which step() takes turns, in order.
    std::vector<std::uint32_t> gpus() const;
    /// Counts turns, and decides what is due.
    /// @param turns of all GPUs of gpus(); a GPU that did not answer in time is left out
    /// @returns the GPUs on which something changes, in order
    std::vector<WindowOrder> step(Ns now, std::span<const WindowTurns> turns);

    /// Returns what is known of a tenant; empty: it is no gang, or no other task is on its GPUs.
    std::optional<GangReport> report(const std::string &tenant) const;

  private:
    using Group = WindowGroup;
    /// The levers in rows that begin now, by GPU.
    using Orders = std::map<std::uint32_t, WindowOrder>;

    std::vector<Group> find_groups() const;
    void regroup(Ns now, Orders &orders);
    void enter(Group &group, Group::State state, Ns now, Orders &orders) const;
    void judge(Group &group, Ns now, Orders &orders) const;
    void step_windows(Group &group, Ns now, Orders &orders) const;
    void settle(Group &group) const;
    WindowPlan next_plan(const Group &group, Ns begin) const;
    std::vector<TenantProgress> progress_of(const Group &group, Ns now) const;
    bool is_alone_on(const Group &group, std::size_t tenant, std::uint32_t gpu) const;
    bool misses_promise(const Group &group) const;
    void order_row(const Group &group, Orders &orders) const;

    WindowSettings settings_;
    std::map<std::uint32_t, std::vector<TenantOnGpu>> tenants_; ///< by GPU, in the order of names
    std::optional<Ns> changed_at_;                              ///< tenants_, since the last step
    std::vector<Group> groups_;
};

} // namespace qos
