// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A device of containers by which nvqos keeps a goal for each container that has it.
#pragma once

#include <string>
#include <vector>

#include "container_device.hpp"

namespace nvdebug::base {

/// The goal, and how the device's hook asks for it. The hook is the program nvqos itself
/// (`nvqos --hold-container`), which container runtimes run on the node.
struct GoalDevice {
    std::string goal;              ///< `share:30%,cap:50%,gang=off`
    std::vector<std::string> gpus; ///< names as nvqos' --gpu takes them; empty: all
    std::string socket;            ///< of nvqos, as the node has it
    std::string program;           ///< the path of nvqos on the node
    std::string tenant = {};       ///< for --tenant; empty: the container itself
    std::string kind = "nvdebug.io/qos";

    /// Returns `share-30-cap-50-gpu0`, `share-30-gang-nodes-job-7` or `share-30-GPU-57a2`. A tenant
    /// with a colon at its end is left out. For some goals, tenants and names of GPUs it is no
    /// is_device_name().
    [[nodiscard]] std::string name() const;
    [[nodiscard]] ContainerDevice device() const;
};

} // namespace nvdebug::base
