// SPDX-License-Identifier: MIT OR GPL-2.0
#include "program.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forms.hpp"

namespace nvstgm {

Answer<std::string> output_of(const std::vector<std::string> &words) {
    constexpr std::size_t most = 16 << 20;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return fail(failed, std::string("no pipe: ") + std::strerror(errno));
    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t pid = 0;
    const int error =
        posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    char part[4096];
    ssize_t got = 0;
    while (!error && text.size() < most && (got = read(ends[0], part, sizeof part)) > 0)
        text.append(part, static_cast<std::size_t>(got));
    close(ends[0]);
    if (error)
        return fail(failed, printable(words[0]) + " cannot be run: " + std::strerror(error));
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        return fail(failed, printable(words[0]) + " was ended by signal " +
                                std::to_string(WTERMSIG(status)));
    if (WEXITSTATUS(status))
        // nvtaskset's exit statuses mean the same as nvstgm's.
        return fail(WEXITSTATUS(status) <= failed ? static_cast<Exit>(WEXITSTATUS(status)) : failed,
                    printable(words[0]) + " ended with status " +
                        std::to_string(WEXITSTATUS(status)));
    return text;
}

} // namespace nvstgm
