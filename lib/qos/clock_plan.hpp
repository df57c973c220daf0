// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows for jobs with tasks on several nodes, by a clock that all nodes have: pure
/// functions.
///
/// Each node makes the plan by itself, and no message passes between nodes. A job runs on all of
/// its nodes at once if their plans are the same. So a plan takes nothing that differs between
/// nodes: no debts, no turns, no start of its own, no numbers of GPUs, and no tenants of one node
/// alone. It is in CLOCK_TAI, which PTP or chrony keep together and which has no leap seconds. Its
/// cycle divides a second, or is some seconds long, and one of its cycles began at TAI 0. A node
/// that starts late has the windows of the others at once.
///
/// Nodes agree as long as they have the same jobs, with the same goals, of which the same ones
/// share GPUs. When a job comes or goes, they take the next plan at next_change_of_plans(), where
/// cycles of all lengths up to a second end.
///
/// A tenant of one node alone (GangTenant::is_on_other_nodes is false) does not change the windows
/// of the others. It runs where a row leaves all of its GPUs free, and at the end of each row if
/// ClockSettings gives a part of it to such tenants.
#pragma once

#include "gangs.hpp"

namespace qos {

/// Settings that all nodes have alike.
struct ClockSettings {
    /// The shortest part of the time has a window of this length, if that fits into a second. The
    /// changes of a node's GPUs take a request each (WindowSettings::worth_requests): 50 ms suit
    /// eight GPUs, and 100 ms suit 16.
    Ns window = 50 * ms;
    Ns request = 750 * us; ///< of the driver, for one task
    /// The end of each row is for tenants of one node alone, on nodes that have such tenants.
    /// Beside tenants of several nodes that are always busy, they have next to nothing else.
    Part for_one_node = 0;
    bool operator==(const ClockSettings &) const = default;
};

/// Returns the groups that have windows by the clock: tenants of several nodes that are linked by
/// shared GPUs, with the tenants of one node on these GPUs, which may be in two groups. A tenant
/// that is alone on its GPUs has windows only if it has a cap. The numbers of a group, and the
/// groups, are in the order of names.
std::vector<std::vector<std::size_t>> clock_groups(std::span<const GangTenant> tenants);

/// Returns the windows at @p now, which is in CLOCK_TAI and not below 0.
/// @param tenants all of a group (clock_groups()), in any order. Their accounts do not count.
WindowPlan plan_by_clock(std::span<const GangTenant> tenants, const ClockSettings &settings,
                         Ns now);

/// Returns when a plan for another set of tenants begins that is known at @p now: the next whole
/// second after it.
Ns next_change_of_plans(Ns now);

/// Returns the tenants with a promise of more than their part of the windows, and those without any
/// windows, in the order of names. A tenant of one node has no more than the others leave,
/// and is paused for ever if it also has a cap.
std::vector<std::size_t> short_of_windows(std::span<const GangTenant> tenants,
                                          const WindowPlan &plan);

} // namespace qos
