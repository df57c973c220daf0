// SPDX-License-Identifier: MIT OR GPL-2.0
// The calls to NVIDIA's driver that carry out a request, and those that undo it.
#pragma once

#include <string>
#include <vector>

#include "driver_tasks.hpp"
#include "lib/driver/keeper.hpp"
#include "nvdebug/error.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {

/// Each call that can be undone, and the one that undoes it, have the same number.
struct CallPlan {
    std::vector<Call> calls, undo;
};

/// Adds the calls that disable, or enable, channels: one for up to 64 of a client's.
void add_disable(std::vector<Call> &calls, const DriverTasks &tasks, const OwnedChannels &channels,
                 bool disable);

/// Those of @p channels that are not known to be as they are to be.
[[nodiscard]] OwnedChannels channels_to_change(const DriverTasks &tasks,
                                               const OwnedChannels &channels, bool enabled);

/// The error of a change for which the old value would have to be known.
[[nodiscard]] Error not_restorable(const std::string &owner, const std::string &value);

/// Fails where a process of @p pids shares a TSG with one that is not among them (MPS): both would
/// be changed.
[[nodiscard]] Result<void> check_shared(const DriverTasks &tasks, Pids pids);

/// Fails where what would be changed is not known, and so could not be restored, or where a TSG is
/// shared with processes that are not named. Nothing is changed, but the driver is asked for
/// interleave levels.
[[nodiscard]] Result<CallPlan> make_plan(Kernel &kernel, const DriverTasks &tasks,
                                         const TaskRequest &request, const OwnedChannels &channels);

} // namespace nvdebug::driver
