// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Processes that outlive the one that started them, where orphans become the command's
/// children.
#pragma once

#include <functional>
#include <sys/types.h>

#include "service.hpp"

namespace nvtaskset {

/// Would a process whose parent ends become this one's child? It is PID 1, or a subreaper.
bool adopts_orphans();

/// fork(), but the child's end is no signal, and wait() without __WALL does not see it.
pid_t fork_unseen();

/// Runs @p start, which starts a daemon. Where this process adopts orphans the daemon becomes the
/// child of another process, which waits for it: the command that this process becomes does not
/// wait for what it has not started.
ServiceResult start_daemon(const std::function<ServiceResult()> &start);

} // namespace nvtaskset
