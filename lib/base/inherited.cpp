// SPDX-License-Identifier: MIT OR GPL-2.0
#include "inherited.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace nvdebug::base {
namespace {

// exec() resets a signal with a handler to the default. So a handler also records how the signal
// was handled before: each of these is installed for one inherited handling only.
void after_ignored_child(int) {}
void after_default_pipe(int) {}
void after_default_limit(int) {}

bool is(int signal, void (*handler)(int)) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
           action.sa_handler == handler;
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
}

} // namespace

void make_inheritance_usable() {
    // open() returns the lowest free number, which is the stream's own, since the lower ones are
    // taken.
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", O_PATH | O_CLOEXEC) < 0)
            (void)!open("/", O_PATH | O_CLOEXEC);
    if (is(SIGCHLD, SIG_IGN))
        handle(SIGCHLD, after_ignored_child);
    if (is(SIGXFSZ, SIG_DFL))
        handle(SIGXFSZ, after_default_limit);
}

void survive_broken_pipes() {
    if (is(SIGPIPE, SIG_DFL))
        handle(SIGPIPE, after_default_pipe);
}

void raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void give_inheritance_back() {
    if (is(SIGCHLD, after_ignored_child))
        handle(SIGCHLD, SIG_IGN);
}

} // namespace nvdebug::base
