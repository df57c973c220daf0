// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <string>

namespace nvdebug::base {

/// Returns whether only this user and root can change the file or folder at the existing path.
[[nodiscard]] bool is_private(const std::string &path);

} // namespace nvdebug::base
