// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Help, made from the table. */
#ifndef NVDEBUGCTL_HELP_HPP
#define NVDEBUGCTL_HELP_HPP

#include <string>

#include "commands.hpp"

namespace nvdebugctl {

/** Of the tool, of an object, or of a command; what is nullptr was not named. */
std::string help_text(const std::vector<Object> &objects, const Object *object,
                      const Command *command);
std::string columns_help(const Command &command);
/** `runlist show RUNLIST [--brief]` */
std::string synopsis(const Command &command);

} // namespace nvdebugctl

#endif
