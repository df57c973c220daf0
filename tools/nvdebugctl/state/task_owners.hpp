// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Looks up the processes behind the tasks of runlists.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "nvdebug/engine.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

/// The processes that made the channels of each TSG and of each bare channel, by runlist. add()
/// fills it. Every view that names the process of a task looks it up here.
class TaskOwners {
  public:
    /// Adds the tasks of @p list.
    void add(const nvdebug::Runlist &list, const nvdebug::Owners &owners);

    /// Returns the processes of the task, in the order of its channels; empty: none is known.
    [[nodiscard]] std::vector<nvdebug::Process>
    of(const std::optional<std::uint32_t> &runlist,
       const std::optional<nvdebug::Occupant> &task) const;

    bool empty() const { return tasks_.empty(); }

  private:
    using Task = std::tuple<std::uint32_t, nvdebug::Occupant::Kind, std::uint32_t>;
    std::map<Task, std::vector<nvdebug::Process>> tasks_; ///< tasks of which a process is known
};

} // namespace nvdebugctl
