// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watcher.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.hpp"
#include "lib/base/printable.hpp"
#include "lib/partition/tasks.hpp"
#include "map_file.hpp"
#include "orphans.hpp"

namespace nvtaskset {
namespace {

/// Returns true if @p pid is @p root or a descendant of it.
bool descends(pid_t pid, pid_t root) {
    for (int step = 0; step < 64 && pid > 0; step++) {
        if (pid == root)
            return true;
        std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
        std::string stat;
        std::getline(file, stat);
        const std::size_t end = stat.rfind(')');
        char state = 0;
        if (end == stat.npos || std::sscanf(stat.c_str() + end + 1, " %c %d", &state, &pid) != 2)
            return false;
    }
    return false;
}

/// Looks for processes without the library until the command ends.
[[noreturn]] void look(pid_t command, int pidfd) {
    constexpr int first_ms = 500, longest_ms = 8000;
    std::set<pid_t> suspects, named;
    for (int period_ms = first_ms;; period_ms = std::min(2 * period_ms, longest_ms)) {
        pollfd ended{pidfd, POLLIN, 0};
        if (poll(&ended, 1, period_ms) != 0)
            std::_Exit(0);
        std::error_code error;
        for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
             at.increment(error)) {
            const pid_t pid = std::atoi(at->path().filename().c_str());
            if (pid <= 0 || named.contains(pid) || !descends(pid, command))
                continue;
            const auto process = look_at(pid);
            // A process is named at the second look, as it may be initialising CUDA at the first.
            if (!process || !process->uses_gpu || process->injected || suspects.insert(pid).second)
                continue;
            std::fprintf(
                stderr,
                "nvtaskset: process %d (%s) uses the GPU and is NOT kept to the partition: CUDA in "
                "it did not load %s\n",
                pid, nvdebug::base::printable(process->command).c_str(), injection_path().c_str());
            named.insert(pid);
        }
    }
}

} // namespace

void watch(std::optional<Page> &page) {
    const pid_t command = getpid();
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, command, 0));
    if (pidfd < 0)
        return;
    // The pipe closes when the child has left the page, so that this process can wait for that.
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0) {
        close(pidfd);
        return;
    }
    const bool adopts = adopts_orphans();
    const pid_t child = adopts ? fork_unseen() : fork();
    if (child != 0) {
        char none;
        close(pidfd);
        close(ready[1]);
        (void)!read(ready[0], &none, 1);
        close(ready[0]);
        if (child > 0 && !adopts)
            waitpid(child, nullptr, 0);
        return;
    }
    // The watcher leaves the task before the command begins.
    page.reset();
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    close_all_but(pidfd);
    (void)!chdir("/");
    setsid();
    if (!adopts && fork() != 0)
        std::_Exit(0);
    look(command, pidfd);
}

} // namespace nvtaskset
