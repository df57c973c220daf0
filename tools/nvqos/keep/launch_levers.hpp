// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What is done about the launches of the tasks on one GPU: which tasks Launches gets, what is
/// warned of, and what a report has of it. Launches are all that keeps clients of an MPS server
/// apart, since these have no turns of their own.
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

    /// Does what goals need now, as Launches::keep(), and warns of goals that launches cannot keep.
    void keep();
    /// Judges tenants in an epoch that has ended by their launches: a speed by the pace, and a
    /// service by the times of its requests.
    void judge(qos::EpochRecord &epoch) const;
    /// Returns whether a request of the service has ended in the last second.
    bool has_recent_request(std::size_t tenant) const;
    /// Adds to a tenant's line what is done about its launches.
    void describe(std::size_t tenant, TenantReport &line) const;

  private:
    Limited limited(std::size_t tenant) const;
    std::size_t paced(std::size_t tenant) const;

    Launches launches_;
    const Tasks &tasks_;
    const Tenants &tenants_;
    Warnings &warnings_;
};

} // namespace nvqos
