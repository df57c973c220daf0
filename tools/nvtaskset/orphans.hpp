// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Starting processes that outlive nvtaskset, even if orphans become children of the command.
#pragma once

#include <functional>
#include <sys/types.h>

#include "service.hpp"

namespace nvtaskset {

/// Returns true if orphans among the descendants become children of this process, because it is PID
/// 1 or a subreaper.
bool adopts_orphans();

/// Forks as fork() does, but the child's end raises no signal, and wait() without __WALL does not
/// see the child.
pid_t fork_unseen();

/// Runs @p start, which starts a daemon. If this process adopts orphans, the daemon becomes the
/// child of another process, which waits for it. The command that this process becomes would not
/// expect a child that it has not started.
ServiceResult start_daemon(const std::function<ServiceResult()> &start);

} // namespace nvtaskset
