// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Starting programs that serve all tasks, and therefore inherit nothing from the task that
/// starts them.
#pragma once

#include <string>
#include <vector>

namespace nvtaskset {

struct Service {
    std::string program; ///< looked up in PATH
    std::vector<std::string> arguments;
    std::string input; ///< its standard input
    /// Variables `NAME=VALUE`, in addition to PATH and HOME.
    std::vector<std::string> environment;
    int patience_ms; ///< the program is killed after this time
};

/// The end of a service.
struct ServiceResult {
    int error = 0;     ///< errno if it could not be started or waited for
    bool late = false; ///< it took longer than patience_ms, and was killed
    int status = 0;    ///< the status of wait()

    bool is_success() const { return !error && !late && status == 0; }
};

/// Runs a program and waits for its end. The program has an environment, a session and signals of
/// its own, the working directory `/`, and no descriptors but its input and `/dev/null`.
ServiceResult run_service(const Service &service);

/// Runs a program in a scope of systemd, a cgroup of its own, so that it does not end with the
/// cgroup of the task. Fails with ENOENT if systemd does not run, and with the status of
/// systemd-run if that may not make a scope.
ServiceResult run_in_scope(const Service &service);

} // namespace nvtaskset
