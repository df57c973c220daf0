// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The windows of gangs on one GPU: which levers its tenants have in them, and the turns that
/// show what came of it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "levers.hpp"
#include "lib/qos/demand.hpp"
#include "lib/qos/ledger.hpp"
#include "lib/qos/window_keeper.hpp"

namespace nvqos {

class Windows {
  public:
    /// Returns whether windows decide over timeslices and pauses, and not the governor.
    bool decide() const { return decide_; }
    /// Begins windows, in which each tenant keeps its lever until put() has another one.
    /// @param present the levers of the tenants, by their names
    void begin(std::map<std::string, WantedLever> present);
    /// Takes levers of an order. Those without a timeslice leave the present one.
    void put(std::span<const qos::TenantLever> levers);
    /// Forgets the levers of all tenants but these.
    void forget_others(std::span<const qos::TenantOnGpu> present);
    void end();
    /// Returns the lever of a tenant; empty: no order has one, because the tenant has just come.
    std::optional<WantedLever> lever(const std::string &tenant) const;

    /// A turn, by the GPU's clock.
    struct Turn {
        qos::TenantTurn turn;
        qos::Ns slice;      ///< of its task
        qos::Ns changed_at; ///< when levers were last changed
    };
    /// Adds a turn for take_turns(), in the order of time. Turns of more than some seconds ago are
    /// dropped.
    /// @param end, begin of the turn, by the clock of this machine
    void add(const Turn &turn, const std::string &tenant, qos::Ns begin, qos::Ns end);
    /// Returns whether a tenant had its part of the last second, or of a longer time: within a point,
    /// and what it may miss because that time begins and ends anywhere in its cycle of windows.
    /// Empty: it had no work at some time, or no turn.
    std::optional<bool> got(const std::string &tenant, qos::Part part,
                            const qos::Balance &second) const;
    /// Returns the turns since the last call, by the clock of this machine.
    std::vector<qos::WindowTurn> take_turns();

  private:
    bool gives_way(const Turn &one);
    void forget_tenants();

    bool decide_ = false;
    std::map<std::string, WantedLever> levers_; ///< by tenant
    std::deque<qos::WindowTurn> turns_;
    qos::Ns last_end_ = 0; ///< of a turn that was added
    /// The turns of a tenant in the last second, by the clock of this machine.
    struct Seen {
        qos::Ns last_end = 0;
        qos::Ns longest_wait = 0, waited_at = 0; ///< between two turns
        std::optional<qos::Ns> gave_way_at = {};
    };
    std::map<std::string, Seen> seen_; ///< by tenant
    /// The begin of the turn that goes on, by the GPU's clock, and its task.
    struct {
        std::uint64_t task = 0;
        std::optional<qos::Ns> begin = {};
    } open_;
};

} // namespace nvqos
