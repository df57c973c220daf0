// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A program inherits its standard streams and the handling of signals from the program that
/// started it. These functions make them usable, and restore them for a program that this process
/// starts or becomes.
#pragma once

namespace nvdebug::base {

/// Called at the beginning of main(). A standard stream that is closed gets a descriptor on which
/// reading and writing fail with EBADF, so that no file or socket that the program opens takes its
/// number; the descriptor is closed on exec. Children can be waited for, even if SIGCHLD was
/// ignored. A write beyond the limit of file sizes fails with EFBIG; exec restores the inherited
/// handling of SIGXFSZ.
void make_inheritance_usable();

/// Makes a write to a pipe without a reader fail with EPIPE from now on. Exec restores the
/// inherited handling of SIGPIPE.
void survive_broken_pipes();

/// Raises the limit of open files to the hard limit, for a program that duplicates descriptors of
/// other processes.
void raise_file_limit();

/// Called before this process becomes another program: ignores SIGCHLD again if it was ignored
/// before.
void give_inheritance_back();

} // namespace nvdebug::base
