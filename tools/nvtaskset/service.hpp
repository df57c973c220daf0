// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Programs of NVIDIA's that serve all tasks, and so take over nothing of the task that
/// starts them.
#pragma once

#include <string>
#include <vector>

namespace nvtaskset {

struct Service {
    std::string program; ///< looked up in PATH
    std::vector<std::string> arguments;
    std::string input; ///< its standard input
    /// Beside PATH and HOME: `NAME=VALUE`.
    std::vector<std::string> environment;
    int patience_ms; ///< it is killed then
};

/// How it ended.
struct ServiceResult {
    int error = 0;     ///< errno: it could not be started, or not waited for
    bool late = false; ///< and was killed
    int status = 0;    ///< as wait() has it

    bool is_success() const { return !error && !late && status == 0; }
};

/// Runs it with an environment, a session and signals of its own, in `/`, with no descriptors but
/// its input and `/dev/null`, and waits for its end.
ServiceResult run_service(const Service &service);

/// The same in a scope of systemd's, a cgroup with which nothing else ends. Fails with ENOENT where
/// systemd does not run, and with the status of systemd-run where that may not make one.
ServiceResult run_in_scope(const Service &service);

} // namespace nvtaskset
