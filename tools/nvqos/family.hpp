// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Processes and all their descendants, also orphaned ones.
///
/// How many processes and ancestors there are, their users decide. So all of them are looked at by
/// look_for_descendants() alone, in a thread without a deadline, and in one pass for all families.
/// What it finds is remembered, and Family::has() reads nothing.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lib/base/process.hpp"
#include "nvdebug/owner.hpp"

namespace nvqos {

/// May be used by several threads.
class Family {
  public:
    void add(const nvdebug::base::Birth &root);
    /// All processes in this cgroup or below it belong to the family, too.
    void add_cgroup(const std::string &path);

    /// Is it in one of the cgroups, or a member, by what is known?
    bool has(const nvdebug::Process &process) const;
    std::set<nvdebug::base::Birth> members() const;
    std::set<std::string> cgroups() const;
    /// Does no member live any more? Nothing is known of cgroups.
    bool has_ended() const;
    /// Was there ever a member?
    bool had_members() const;
    /// How many members look_for_descendants() has found so far: rises when has() may have changed.
    std::uint64_t found() const;

  private:
    friend void
    look_for_descendants(std::span<const std::shared_ptr<Family>> families,
                         const std::function<std::vector<nvdebug::base::ProcessState>()> &all);

    mutable std::mutex lock_;
    std::set<nvdebug::base::Birth> members_;
    std::set<std::string> cgroups_;
    bool had_members_ = false;
    std::uint64_t found_ = 0;
};

/// Makes processes that descend from members members, and forgets members that have ended. A
/// process whose parent ends between two looks is missed.
/// @param all all processes; is called once
void look_for_descendants(std::span<const std::shared_ptr<Family>> families,
                          const std::function<std::vector<nvdebug::base::ProcessState>()> &all =
                              nvdebug::base::all_processes);

} // namespace nvqos
