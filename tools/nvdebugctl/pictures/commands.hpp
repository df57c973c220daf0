// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The options that draw. */
#ifndef NVDEBUGCTL_PICTURES_COMMANDS_HPP
#define NVDEBUGCTL_PICTURES_COMMANDS_HPP

#include <vector>

#include "command.hpp"

namespace nvdebugctl {

/** Of `copy show`. */
std::vector<Picture> copy_pictures();

} // namespace nvdebugctl

#endif
