// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The folder in which root's programs leave files for each other until the next boot.
#pragma once

namespace nvdebug::base {

/// The folder has claims on GPUs, lists of changes that are to be undone, and the socket of nvqos.
inline constexpr const char *runtime_folder = "/run/nvdebug";

/// Makes a folder that only this user may enter. If the folder exists, the rights of other users
/// are removed. Async-signal-safe. @returns 0 or the errno; EPERM: the folder belongs to another
/// user
[[nodiscard]] int make_private_folder(const char *path);

} // namespace nvdebug::base
