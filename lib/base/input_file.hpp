// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads a file that a user named as a whole.
#pragma once

#include <cstddef>
#include <string>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// Returns the bytes of a regular file. Fails with a sentence that has the path if it cannot be
/// read, has more than @p most bytes, or is something else: a folder is what container runtimes
/// make where the file of a mount is missing, and a pipe has no second reading. Waits for no
/// writer of a pipe.
[[nodiscard]] tl::expected<std::string, std::string> read_whole(const std::string &path,
                                                                std::size_t most);

} // namespace nvdebug::base
