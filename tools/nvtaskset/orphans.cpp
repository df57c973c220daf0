// SPDX-License-Identifier: MIT OR GPL-2.0
#include "orphans.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.hpp"

namespace nvtaskset {

bool adopts_orphans() {
    int adopts = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts);
}

pid_t fork_unseen() {
    return static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
}

ServiceResult start_daemon(const std::function<ServiceResult()> &start) {
    if (!adopts_orphans())
        return start();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return {.error = errno};
    const pid_t parent = fork_unseen();
    if (parent == 0) {
        const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            dup2(nothing, stream);
        close_all_but(ends[1]);
        (void)!chdir("/");
        setsid();
        const ServiceResult ended =
            prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? start() : ServiceResult{.error = errno};
        (void)!write(ends[1], &ended, sizeof(ended));
        close(ends[1]);
        while (wait(nullptr) > 0 || errno == EINTR) {
        }
        std::_Exit(0);
    }
    ServiceResult ended{.error = parent < 0 ? errno : 0};
    close(ends[1]);
    if (parent > 0 && read(ends[0], &ended, sizeof(ended)) != static_cast<ssize_t>(sizeof(ended)))
        ended.error = EIO;
    close(ends[0]);
    return ended;
}

} // namespace nvtaskset
