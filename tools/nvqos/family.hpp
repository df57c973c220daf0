// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Processes and all their descendants, also orphaned ones.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lib/base/process.hpp"
#include "nvdebug/owner.hpp"

namespace nvqos {

class Family {
  public:
    void add(const nvdebug::base::Birth &root) { members_.insert(root); }
    /// All processes in this cgroup or below it belong to the family, too.
    void add_cgroup(const std::string &path) { cgroups_.insert(path); }

    /// Is it a member, or does it descend from one? It is a member from then on.
    bool has(const nvdebug::Process &process);
    /// Is it a member already, or in one of the cgroups? Reads nothing.
    bool knows(const nvdebug::Process &process) const;
    /// Makes those of @p all that descend from members members, and forgets members that have
    /// ended. A process whose parent ends between two looks, before it has used a GPU, is missed.
    void look(std::span<const nvdebug::base::ProcessState> all);

    const std::set<nvdebug::base::Birth> &members() const { return members_; }
    const std::set<std::string> &cgroups() const { return cgroups_; }
    /// Does no member live any more? Nothing is known of cgroups.
    bool has_ended() const;

  private:
    std::set<nvdebug::base::Birth> members_;
    std::set<std::string> cgroups_;
};

} // namespace nvqos
