// SPDX-License-Identifier: MIT OR GPL-2.0
#include "service.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors.hpp"
#include "lib/partition/variables.hpp"

namespace nvtaskset {
namespace {

using Words = std::vector<char *>;

Words pointers(std::vector<std::string> &words) {
    Words found;
    for (std::string &word : words)
        found.push_back(word.data());
    found.push_back(nullptr);
    return found;
}

/// Turns the child into the program. If exec fails, it writes errno to @p failed, which exec
/// closes.
[[noreturn]] void become(const Words &words, const Words &environment, int input, int failed) {
    setsid();
    (void)!chdir("/");
    umask(077);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(input, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    const int report = fcntl(failed, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close_all_but(report);
    execvpe(words[0], words.data(), environment.data());
    const int error = errno;
    (void)!write(report, &error, sizeof(error));
    std::_Exit(127);
}

/// Waits for the child. Returns false if the time is over.
bool wait_for(pid_t child, int patience_ms, ServiceResult &ended) {
    using std::chrono::steady_clock;
    const auto end = steady_clock::now() + std::chrono::milliseconds(patience_ms);
    constexpr int step_ms = 5;
    for (;;) {
        const pid_t found = waitpid(child, &ended.status, WNOHANG);
        if (found == child)
            return true;
        if (found < 0 && errno != EINTR) {
            ended.error = errno;
            return true;
        }
        if (steady_clock::now() >= end)
            return false;
        poll(nullptr, 0, step_ms);
    }
}

/// Returns variables of this process, as `NAME=VALUE`.
std::vector<std::string> own(const std::vector<const char *> &names) {
    std::vector<std::string> entries;
    for (const char *name : names)
        if (const char *const value = variable(name))
            entries.push_back(std::string(name) + "=" + value);
    return entries;
}

void append(std::vector<std::string> &to, const std::vector<std::string> &more) {
    to.insert(to.end(), more.begin(), more.end());
}

} // namespace

ServiceResult run_in_scope(const Service &service) {
    struct stat found {};
    if (stat("/run/systemd/system", &found) < 0)
        return {.error = ENOENT};
    Service scope{"systemd-run",
                  {"--scope", "--quiet", "--collect", "--no-ask-password"},
                  service.input,
                  {},
                  service.patience_ms};
    // systemd-run needs the bus of the user's manager. The program does not get these variables.
    if (geteuid()) {
        scope.arguments.push_back("--user");
        scope.environment = own({"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"});
    }
    append(scope.arguments, {"--", "env", "-i"});
    append(scope.arguments, service.environment);
    append(scope.arguments, own({"PATH", "HOME"}));
    scope.arguments.push_back(service.program);
    append(scope.arguments, service.arguments);
    return run_service(scope);
}

ServiceResult run_service(const Service &service) {
    std::vector<std::string> words{service.program}, environment = service.environment;
    append(words, service.arguments);
    append(environment, own({"PATH", "HOME"}));
    ServiceResult ended;
    int input[2], failed[2];
    if (pipe2(input, O_CLOEXEC) < 0)
        return {.error = errno};
    if (pipe2(failed, O_CLOEXEC) < 0) {
        ended.error = errno;
        close(input[0]);
        close(input[1]);
        return ended;
    }
    const Words arguments = pointers(words), variables = pointers(environment);
    const pid_t child = fork();
    if (child == 0)
        become(arguments, variables, input[0], failed[1]);
    ended.error = child < 0 ? errno : 0;
    close(input[0]);
    close(failed[1]);
    int error = 0;
    if (child > 0 && read(failed[0], &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error)))
        ended.error = error;
    close(failed[0]);
    // The input fits into the pipe, so that the write does not wait. The pipe may have no reader.
    if (child > 0 && !ended.error) {
        const auto before = signal(SIGPIPE, SIG_IGN);
        (void)!write(input[1], service.input.data(), service.input.size());
        signal(SIGPIPE, before);
    }
    close(input[1]);
    ServiceResult unused;
    if (child > 0 && !wait_for(child, service.patience_ms, ended.error ? unused : ended)) {
        kill(child, SIGKILL);
        waitpid(child, &ended.status, 0);
        ended.late = true;
    }
    return ended;
}

} // namespace nvtaskset
