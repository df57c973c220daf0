// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Goals as devices of containers, and the hook by which runtimes have them held.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/nvqos/goals.hpp"

namespace nvqos {

/// The options of a goal for containers.
struct ContainerGoal {
    std::string goal; ///< `share:30%,cap:50%`; parse_goal() takes it
    Gang gang = Gang::on;
    std::vector<std::string> gpus; ///< names, as add_gpus() takes them
    std::string socket;
    /// The tenant that the container joins. Behind a colon at the end comes the container's id. If
    /// it is empty, the container is the tenant.
    std::string tenant = {};
};

/// Writes FOLDER/nvdebug.io-qos-NAME.json, which replaces an earlier one as a whole. Returns the
/// device that `podman run --device` takes.
[[nodiscard]] Outcome<std::string> write_goal_device(const ContainerGoal &goal,
                                                     const std::string &folder);

/// Acts as a createRuntime hook of OCI runtimes: reads the container's state on stdin and asks the
/// nvqos at the socket to keep the goal for the container's cgroup, until the container's first
/// process ends. After a failure the runtime does not start the container, and shows the sentence.
[[nodiscard]] Outcome<void> hold_container(const ContainerGoal &goal);

} // namespace nvqos
