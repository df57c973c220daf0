// SPDX-License-Identifier: MIT OR GPL-2.0
// The calls to NVIDIA's driver that carry out a request, and those that undo it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver_tasks.hpp"
#include "lib/driver/helper.hpp"
#include "lib/driver/journal.hpp"
#include "nvdebug/error.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {

/// Each call that is to be undone, and the one that undoes it, have the same number; calls that
/// need no undo come last.
struct CallPlan {
    std::vector<Call> calls, undo;
};

/// Adds the calls that disable, or enable, channels: one for up to 64 of a client's.
void add_disable(std::vector<Call> &calls, const DriverTasks &tasks, const OwnedChannels &channels,
                 bool disable);

/// A property of what a process has, as journals name it. @p object: the channel, or the TSG.
[[nodiscard]] Property property_of(const DriverTasks &tasks, const OwnedChannel &channel,
                                   Property::Kind kind);

/// Was a channel enabled before helpers changed it? Empty: not known.
[[nodiscard]] std::optional<bool> was_enabled(const DriverTasks &tasks, const OwnedChannel &channel,
                                              const Originals &originals);

/// The timeslice of a channel's TSG before helpers changed it; empty: not known.
[[nodiscard]] std::optional<std::uint64_t>
timeslice_before(const DriverTasks &tasks, const OwnedChannel &channel, const Originals &originals);

/// The error of a change for which the old value would have to be known.
[[nodiscard]] Error not_restorable(const std::string &owner, const std::string &value);

/// Fails where a process of @p pids shares a TSG with one that is not among them (MPS): both would
/// be changed.
[[nodiscard]] Result<void> check_shared(const DriverTasks &tasks, Pids pids);

/// Fails where what would be changed is not known, and so could not be restored, or where a TSG is
/// shared with processes that are not named. Nothing is changed, but the driver is asked for
/// interleave levels. @p originals: what helpers have changed is put back to that.
[[nodiscard]] Result<CallPlan> make_plan(Kernel &kernel, const DriverTasks &tasks,
                                         const TaskRequest &request, const OwnedChannels &channels,
                                         const Originals &originals);

} // namespace nvdebug::driver
