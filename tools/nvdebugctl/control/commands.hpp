// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The verbs that change how a GPU schedules. */
#ifndef NVDEBUGCTL_CONTROL_COMMANDS_HPP
#define NVDEBUGCTL_CONTROL_COMMANDS_HPP

#include <vector>

#include "command.hpp"

namespace nvdebugctl {

std::vector<Command> channel_controls();
std::vector<Command> runlist_controls();
std::vector<Command> tsg_controls();

} // namespace nvdebugctl

#endif
