// SPDX-License-Identifier: MIT OR GPL-2.0
// Checks in the runlists whether NVIDIA's driver has carried out a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver_tasks.hpp"
#include "nvdebug/error.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {

/// Reads the lists again, a few times over 0.1 s, until they show the requested values. Fails if
/// they do not show them in time. Requests that lists do not show, such as preemptions, and lists
/// that may not be read count as verified.
[[nodiscard]] Result<void> verify_effect(DriverTasks &tasks, const TaskRequest &request,
                                         const OwnedChannels &channels,
                                         const ReadLists &read_lists);

/// A TSG's entry in a list.
struct TsgEntry {
    std::uint32_t runlist, tsg, timeout, scale;
    std::uint64_t ns;
    std::size_t headers;
};
[[nodiscard]] std::optional<TsgEntry> entry_of(const DriverTasks &tasks,
                                               const OwnedChannel &channel);

/// Returns the answer of `set_timeslice` in the module's form (docs/proc.md).
[[nodiscard]] std::string timeslice_answer(const TsgEntry &old, const TsgEntry &now,
                                           std::uint64_t asked_us);

} // namespace nvdebug::driver
