// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Processes and all their descendants, also orphaned ones.
///
/// Users decide how many processes and ancestors there are. So look_for_descendants() alone reads
/// processes, in a thread without a deadline and in one pass for all families. Families remember
/// what it finds, and Family::has() reads nothing.
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
    void remove_cgroup(const std::string &path);

    /// Returns whether the process is a known member, or in one of the cgroups. Reads nothing.
    bool has(const nvdebug::Process &process) const;
    std::set<nvdebug::base::Birth> members() const;
    std::set<std::string> cgroups() const;
    /// Returns whether no member lives any more. Processes in the cgroups do not count.
    bool has_ended() const;
    /// Returns whether there was a member at any time.
    bool had_members() const;
    /// Returns how many members look_for_descendants() has found so far. The number rises when
    /// has() may return something else.
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

/// Adds the descendants of members to their families, and forgets members that have ended. Misses a
/// process whose parent has ended since the previous call.
/// @param all returns all processes; it is called once
void look_for_descendants(std::span<const std::shared_ptr<Family>> families,
                          const std::function<std::vector<nvdebug::base::ProcessState>()> &all =
                              nvdebug::base::all_processes);

} // namespace nvqos
