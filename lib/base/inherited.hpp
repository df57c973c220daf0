// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a program inherits from the one that started it, its standard streams and what
/// becomes of signals: made usable when it begins, and as it was for a program that it becomes or
/// starts.
#pragma once

namespace nvdebug::base {

/// For the begin of main(). A standard stream that is closed gets a descriptor on which reading and
/// writing fail with EBADF, so that no file or socket that is opened takes its number; it is closed
/// on exec. Children can be waited for, even if SIGCHLD was ignored. A write beyond the limit of
/// file sizes fails with EFBIG; on exec SIGXFSZ is as it was.
void make_inheritance_usable();

/// From now on a write to a pipe without a reader fails with EPIPE; on exec SIGPIPE is as it was.
void survive_broken_pipes();

/// Raises the limit of open files to the hard limit, for a program that takes descriptors of
/// others' processes.
void raise_file_limit();

/// For a program that this process becomes: SIGCHLD is ignored again, if it was.
void give_inheritance_back();

} // namespace nvdebug::base
