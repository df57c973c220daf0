// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The functions that return the commands of each object. OBJECT.cpp defines them.
#pragma once

#include <vector>

#include "cli/command.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Command> capture_commands();
[[nodiscard]] Command capture_diff_command();
[[nodiscard]] std::vector<Command> channel_commands();
[[nodiscard]] std::vector<Command> copy_commands();
[[nodiscard]] std::vector<Command> engine_commands();
[[nodiscard]] std::vector<Command> exec_commands();
[[nodiscard]] std::vector<Command> gpu_commands();
[[nodiscard]] std::vector<Command> memory_commands();
[[nodiscard]] std::vector<Command> process_commands();
[[nodiscard]] std::vector<Command> runlist_commands();
[[nodiscard]] std::vector<Command> topology_commands();
[[nodiscard]] std::vector<Command> tsg_commands();

} // namespace nvdebugctl
