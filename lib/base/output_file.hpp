// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes the file that a user names for a program's output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace nvdebug::base {

/// Writes the text to a file, a device or a pipe. A regular file is replaced in one step, only when
/// all of the text is written, and keeps its mode. If @p path is a link, the file that it leads to
/// is replaced. A device or a pipe stays and is written to. Returns 0 or the errno.
/// @param mode the mode of a new file; the umask removes bits of it
[[nodiscard]] int write_file(const std::string &path, std::string_view text, mode_t mode = 0666);

/// Returns why a program does not write @p output: it is the same file as @p other, which the
/// program reads or writes besides and which would be lost. Links and names of descriptors lead to
/// the file that they stand for. Devices and pipes are no such files, as nothing there is replaced.
/// Empty: they are two files.
/// @param what the option or the word that names the output, for the sentence
/// @param other `-` is standard input
[[nodiscard]] std::optional<std::string>
why_not_write(const std::string &what, const std::string &output, const std::string &other);

} // namespace nvdebug::base
