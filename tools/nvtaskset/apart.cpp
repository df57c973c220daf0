// SPDX-License-Identifier: MIT OR GPL-2.0
#include "apart.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvtaskset {
namespace {

constexpr int start_timeout_ms = 120'000; // the first CUDA process after boot may take long
constexpr std::size_t bytes_max = 1 << 20;

/// Writes the child's text to the parent, and ends the child with the exit status.
[[noreturn]] void answer(int to, const Outcome<std::string> &made) {
    const std::string text = made ? *made : made.error().sentence;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t n = write(to, text.data() + done, text.size() - done);
        if (n <= 0)
            break;
        done += static_cast<std::size_t>(n);
    }
    std::_Exit(made ? 0 : static_cast<int>(made.error().exit));
}

} // namespace

Outcome<std::string> apart(const std::string &what,
                           const std::function<Outcome<std::string>()> &work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return fail("no pipe for " + what + ": " + std::strerror(errno), Exit::failed);
    const pid_t child = fork();
    if (child < 0) {
        const int number = errno;
        close(ends[0]);
        close(ends[1]);
        return fail("no process for " + what + ": " + std::strerror(number), Exit::failed);
    }
    if (child == 0) {
        close(ends[0]);
        answer(ends[1], work());
    }
    close(ends[1]);
    std::string text;
    bool late = false;
    for (char part[4096]; text.size() < bytes_max;) {
        pollfd ready{ends[0], POLLIN, 0};
        const int polled = poll(&ready, 1, start_timeout_ms);
        if (polled < 0 && errno == EINTR)
            continue;
        late = polled == 0;
        const ssize_t n = late ? 0 : read(ends[0], part, sizeof(part));
        if (n <= 0)
            break;
        text.append(part, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    if (late)
        kill(child, SIGKILL);
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (late)
        return fail(what + " did not end in two minutes", Exit::failed);
    if (ended != child || !WIFEXITED(status) || (WEXITSTATUS(status) && text.empty()))
        return fail("the process of " + what + " ended unexpectedly" +
                        (ended == child ? " (status " + std::to_string(status) + ")" : ""),
                    Exit::failed);
    if (WEXITSTATUS(status))
        return fail(text, static_cast<Exit>(WEXITSTATUS(status)));
    return text;
}

} // namespace nvtaskset
