// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The folder in which root's programs leave what others of them are to find until the next
/// boot.
#pragma once

namespace nvdebug::base {

/// It has claims on GPUs, changes that are to be undone, and the socket of nvqos.
inline constexpr const char *runtime_folder = "/run/nvdebug";

/// Makes a folder that only this user may enter, or takes those rights from others if it is there.
/// Async-signal-safe. @returns 0 or the errno; EPERM: it is another user's
[[nodiscard]] int make_private_folder(const char *path);

} // namespace nvdebug::base
