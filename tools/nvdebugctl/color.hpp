// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Whether to use colour. */
#ifndef NVDEBUGCTL_COLOR_HPP
#define NVDEBUGCTL_COLOR_HPP

#include <optional>
#include <string>

namespace nvdebugctl {

/** @param when is the value of --color */
bool use_color(const std::optional<std::string> &when);

} // namespace nvdebugctl

#endif
