// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How a message names this program for a command with sudo.
#pragma once

#include <string>
#include <string_view>

namespace nvdebug::base {

/// The folders in which sudo and root's shell look for programs (`secure_path` of sudoers(5) as
/// distributions have it).
inline constexpr std::string_view usual_path_of_root =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Returns what root is to type to start @p program: its name if a folder of @p path has it, else
/// its full path, in single quotes if a shell would split it.
/// @param executable the full path of the file that this process runs; any file that is not
/// @p program, such as an interpreter, leaves the name as it is
[[nodiscard]] std::string name_for_root(const std::string &program, const std::string &executable,
                                        std::string_view path = usual_path_of_root);

/// Returns name_for_root() for the file of /proc/self/exe.
[[nodiscard]] std::string name_for_root(const std::string &program);

} // namespace nvdebug::base
