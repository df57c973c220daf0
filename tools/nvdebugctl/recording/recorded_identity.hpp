// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "cli/identity.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// Returns identity() of a process: the container as it was recorded; pod, job and step from its
/// cgroup.
[[nodiscard]] inline Json recorded_identity(const RecordedProcess &process) {
    nvdebug::Identity id = nvdebug::identity_of(process_of(process));
    id.container = process.container;
    return identity(id);
}

} // namespace nvdebugctl
