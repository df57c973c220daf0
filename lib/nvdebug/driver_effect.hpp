// SPDX-License-Identifier: MIT OR GPL-2.0
// The effect of a request to NVIDIA's driver, as runlists show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver_tasks.hpp"
#include "nvdebug/error.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {

/// Reads the lists again, a few times over 0.1 s, until they show what was requested. Fails if they
/// do not. What they do not show, as preemptions, and lists that may not be read pass.
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

/// What `set_timeslice` answers, as the module does (docs/proc.md).
[[nodiscard]] std::string timeslice_answer(const TsgEntry &old, const TsgEntry &now,
                                           std::uint64_t asked_us);

} // namespace nvdebug::driver
