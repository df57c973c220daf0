// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The verb `runlist tree`. */
#ifndef NVDEBUGCTL_TREE_TREE_COMMAND_HPP
#define NVDEBUGCTL_TREE_TREE_COMMAND_HPP

#include "command.hpp"

namespace nvdebugctl {

Command runlist_tree_command();

} // namespace nvdebugctl

#endif
