// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps windows by the clock (clock_plan.hpp) on the GPUs of one node.
///
/// A ClockKeeper does no input or output and has no thread. Its caller gives it the tenants of this
/// node, calls step() when it is due, and carries the orders out as those of a WindowKeeper. All
/// times are in CLOCK_TAI. It has no time of watching and no trial, because all nodes would have to
/// come to the same result.
#pragma once

#include "clock_plan.hpp"
#include "window_keeper.hpp"

namespace qos {

/// The windows of a tenant in each cycle, the first of which began at TAI 0. They are the same on
/// all nodes that have the same plan.
struct CycleWindows {
    Ns cycle = 0;
    std::vector<TurnSpan> windows = {};   ///< from the begin of the cycle on; empty: it has none
    std::vector<std::uint32_t> gpus = {}; ///< of the tenant on this node
};

class ClockKeeper {
  public:
    explicit ClockKeeper(const ClockSettings &settings = {}) : settings_(settings) {}

    /// Takes all tenants of this node; their accounts do not count. The first set is in effect with
    /// the next step(), and any other one from next_change_of_plans() on. If the clock was set back
    /// since the last step(), so that windows would not end for long, all of them begin anew.
    void set_tenants(std::vector<GangTenant> tenants, Ns now);
    /// Returns when step() is to be called; the largest number: nothing has windows.
    Ns due() const;
    /// Returns orders for the GPUs on which something changes.
    std::vector<WindowOrder> step(Ns now);
    /// Returns the part of the time in which a tenant has its windows; empty: it is in no group with
    /// windows, so that the governors of its GPUs keep its goal.
    std::optional<Part> part_of(const std::string &tenant) const;
    /// Returns the windows of a tenant in each cycle; empty: as part_of().
    std::optional<CycleWindows> windows_of(const std::string &tenant) const;
    /// Returns the GPUs that have windows, in order.
    std::vector<std::uint32_t> gpus() const;

  private:
    struct Group {
        std::vector<GangTenant> tenants;
        WindowPlan plan;
        Ns due;

        bool is_on(std::uint32_t gpu) const;
        WindowOrder order_on(std::uint32_t gpu, const Row &row) const;
    };

    void take_next(Ns now);

    ClockSettings settings_;
    std::vector<GangTenant> tenants_; ///< in the order of names, without accounts
    std::vector<GangTenant> next_;    ///< the same, from next_at_ on
    std::optional<Ns> next_at_;       ///< empty: there is no other set
    bool has_begun_ = false;          ///< there was a set
    std::vector<Group> groups_;
    Ns stepped_at_ = 0;
};

} // namespace qos
