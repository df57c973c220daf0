// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads a whole file or pipe that a user named.
#pragma once

#include <cstddef>
#include <string>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// Why a file was not read.
struct NotRead {
    int error;            ///< errno; 0: the file is too long, of another kind, or closed
    std::string sentence; ///< has the path
};

/// Returns the bytes of a regular file. Fails if the file cannot be read, has more than @p most
/// bytes, or is no regular file: container runtimes make a folder where the file of a mount is
/// missing, and a pipe cannot be read twice. Does not wait for the writer of a pipe.
[[nodiscard]] tl::expected<std::string, NotRead> read_whole(const std::string &path,
                                                            std::size_t most);

/// Returns the name of an input for a sentence: the printable path, or `standard input` for `-`.
[[nodiscard]] std::string input_name(const std::string &path);

/// Returns the bytes of a file or a pipe, or with `-` those of standard input, and waits for the
/// writer of a pipe. Fails as read_whole() does.
[[nodiscard]] tl::expected<std::string, NotRead> read_once(const std::string &path,
                                                           std::size_t most);

} // namespace nvdebug::base
