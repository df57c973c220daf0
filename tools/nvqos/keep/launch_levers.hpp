// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Connects the tasks on one GPU with Launches: selects the tasks, warns of goals that
/// launches cannot keep, and adds launches to reports. Clients of an MPS server have no turns of
/// their own, so nothing but their launches keeps them apart.
#pragma once

#include "gpu_report.hpp"
#include "launches.hpp"
#include "tasks.hpp"

namespace nvqos {

class LaunchLevers {
  public:
    /// @param tasks, tenants, warnings outlive the levers
    LaunchLevers(const std::string &pci_address, std::chrono::milliseconds patience,
                 const Tasks &tasks, const Tenants &tenants, Warnings &warnings)
        : launches_(pci_address, patience), tasks_(tasks), tenants_(tenants), warnings_(warnings) {}

    /// Calls Launches::keep() for the tasks that there are now, and warns of goals that launches
    /// cannot keep.
    void keep();
    /// Judges tenants in an epoch that has ended by their launches: a speed by the pace, and a
    /// service by the times of its requests.
    void judge(qos::EpochRecord &epoch) const;
    /// Returns whether a request of the service has ended in the last second.
    bool has_recent_request(std::size_t tenant) const;
    /// Returns how many of the tenant's tasks have their launches counted or held for a speed.
    std::size_t paced(std::size_t tenant) const;
    /// Adds the limits, speeds and requests of a tenant to its line of a report.
    void describe(std::size_t tenant, TenantReport &line) const;

  private:
    Limited limited(std::size_t tenant) const;

    Launches launches_;
    const Tasks &tasks_;
    const Tenants &tenants_;
    Warnings &warnings_;
};

} // namespace nvqos
