// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file All commands. Each object's are made in its own file, cmd_OBJECT.cpp. */
#ifndef NVDEBUGCTL_COMMANDS_HPP
#define NVDEBUGCTL_COMMANDS_HPP

#include <string_view>
#include <vector>

#include "command.hpp"

namespace nvdebugctl {

std::vector<Command> capture_commands();
std::vector<Command> channel_commands();
std::vector<Command> check_commands();
std::vector<Command> completion_commands();
std::vector<Command> copy_commands();
std::vector<Command> doctor_commands();
std::vector<Command> engine_commands();
std::vector<Command> gpu_commands();
std::vector<Command> help_commands();
std::vector<Command> memory_commands();
std::vector<Command> runlist_commands();
std::vector<Command> topology_commands();
std::vector<Command> tsg_commands();
std::vector<Command> watch_commands();

struct Object {
    std::string name;
    std::string help;
    std::vector<Command> commands;
};

/** The whole table, in the order in which help shows it. */
std::vector<Object> all_objects();

/** nullptr: no such object. */
const Object *find_object(const std::vector<Object> &objects, std::string_view name);
/** nullptr: no such verb. */
const Command *find_command(const Object &object, std::string_view verb);

} // namespace nvdebugctl

#endif
