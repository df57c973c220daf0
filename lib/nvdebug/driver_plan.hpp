// SPDX-License-Identifier: MIT OR GPL-2.0
// Plans the calls to NVIDIA's driver that carry out a request, and the calls that undo it.
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

/// calls[n] is undone by undo[n]. Calls that need no undo come last.
struct CallPlan {
    std::vector<Call> calls, undo;
};

/// Adds the calls that disable or enable channels, one for up to 64 channels of a client.
void add_disable(std::vector<Call> &calls, const DriverTasks &tasks, const OwnedChannels &channels,
                 bool disable);

/// Returns the key of a property in journals. Its object is the channel or the TSG.
[[nodiscard]] Property property_of(const DriverTasks &tasks, const OwnedChannel &channel,
                                   Property::Kind kind);

/// Returns whether a channel was enabled before helpers changed it; empty: unknown.
[[nodiscard]] std::optional<bool> was_enabled(const DriverTasks &tasks, const OwnedChannel &channel,
                                              const Originals &originals);

/// Returns the timeslice of a channel's TSG before helpers changed it; empty: unknown.
[[nodiscard]] std::optional<std::uint64_t>
timeslice_before(const DriverTasks &tasks, const OwnedChannel &channel, const Originals &originals);

/// Returns the error of a change that cannot be undone, because the old value is unknown.
[[nodiscard]] Error not_restorable(const std::string &owner, const std::string &value);

/// Fails if a process of @p pids shares a TSG with a process outside of @p pids (MPS), because both
/// would be changed.
[[nodiscard]] Result<void> check_shared(const DriverTasks &tasks, Pids pids);

/// Plans a request. Fails if an old value is unknown, so that it could not be restored, or if a TSG
/// is shared with processes that the request does not name. Makes no changes, but queries the
/// driver for interleave levels.
/// @param originals the values before helpers changed them, to which the undo returns
[[nodiscard]] Result<CallPlan> make_plan(Kernel &kernel, const DriverTasks &tasks,
                                         const TaskRequest &request, const OwnedChannels &channels,
                                         const Originals &originals);

} // namespace nvdebug::driver
