// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows by the clock on the GPUs of this node, for tenants with tasks on other nodes: a
/// qos::ClockKeeper in the clock of this node. Has no thread and asks no GPU; the Conductor carries
/// its orders out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/qos/clock_keeper.hpp"
#include "node_clock.hpp"

namespace nvqos {

class ClockWindows {
  public:
    using Tenants = std::map<std::uint32_t, std::vector<qos::TenantOnGpu>>; ///< by GPU

    explicit ClockWindows(NodeClock clock) : clock_(std::move(clock)) {}

    /// Takes the present tenants, and is to be called before each step, at least once a second.
    /// @param is_usable whether the clock agrees with other nodes'. If not, all windows end with the
    /// next second.
    void set_tenants(const Tenants &tenants, bool is_usable);
    /// Returns how long until step() is due, by the clock; the largest number: nothing has windows.
    qos::Ns wait() const;
    /// Returns the orders for the GPUs on which something changes.
    std::vector<qos::WindowOrder> step() { return named(keeper_.step(clock_.now())); }
    /// Returns the GPUs on which windows by the clock decide, in order.
    std::vector<std::uint32_t> gpus() const { return keeper_.gpus(); }
    /// Returns the report on a tenant that has windows by the clock, or has what they leave. Empty: it
    /// is on none of their GPUs, or its ranks do not wait for each other.
    std::optional<qos::GangReport> report(const std::string &tenant) const;

  private:
    static std::vector<qos::WindowOrder> named(std::vector<qos::WindowOrder> orders);

    NodeClock clock_;
    qos::ClockKeeper keeper_;
    /// The tenants as the keeper has them. A rank that does not wait for others is one by itself.
    std::map<std::string, qos::GangTenant> tenants_;
};

} // namespace nvqos
