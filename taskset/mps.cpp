// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mps.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "state.hpp"

extern char **environ;

namespace nvtaskset {
namespace {

constexpr const char *pipe_variable = "CUDA_MPS_PIPE_DIRECTORY", *log_variable = "CUDA_MPS_LOG_DIRECTORY";
/** NVIDIA's own place. */
constexpr const char *default_pipes = "/tmp/nvidia-mps";
constexpr const char *control = "nvidia-cuda-mps-control";
/** Channels as without MPS: its default of fewer makes streams wait for each other (ECRTS 2025, pitfall 4). */
constexpr const char *connections_variable = "CUDA_DEVICE_MAX_CONNECTIONS", *connections = "8";

/** No GPU runs as many tasks. */
constexpr std::uint32_t servers_max = 100;

std::string own_folder(std::uint32_t server) {
    return "/tmp/nvtaskset-mps-" + std::to_string(geteuid()) + "-" + std::to_string(server);
}

/** In /tmp, where others might have made it. */
Outcome<void> make_folder(const std::string &path) {
    struct stat found {};
    if (mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
        return fail("cannot make " + path + ": " + std::strerror(errno));
    if (lstat(path.c_str(), &found) < 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid())
        return fail(path + " is somebody else's; remove it, or name another folder for MPS with " +
                    pipe_variable);
    return {};
}

/** NVIDIA's control program with a command on its standard input; its exit status, or -1. */
int run_control(const std::vector<const char *> &arguments, const std::string &input,
                const std::string &pipes) {
    // Without what is meant for the command: its CUDA is none of ours.
    std::vector<std::string> kept{std::string(pipe_variable) + "=" + pipes,
                                  std::string(log_variable) + "=" + pipes};
    for (char **each = environ; *each; each++) {
        const std::string_view entry = *each;
        const std::string_view name = entry.substr(0, entry.find('='));
        if (name != pipe_variable && name != log_variable && name != injection_variable &&
            name != page_variable && name != partitions_variable)
            kept.emplace_back(entry);
    }
    std::vector<char *> environment, words;
    for (std::string &entry : kept)
        environment.push_back(entry.data());
    environment.push_back(nullptr);
    words.push_back(const_cast<char *>(control));
    for (const char *argument : arguments)
        words.push_back(const_cast<char *>(argument));
    words.push_back(nullptr);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    const int error = posix_spawnp(&child, control, &actions, nullptr, words.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (!error)
        (void)!write(ends[1], input.data(), input.size());
    close(ends[1]);
    if (error) {
        errno = error;
        return -1;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool answers(const std::string &pipes) {
    return access((pipes + "/control").c_str(), F_OK) == 0 &&
           run_control({}, "get_server_list\n", pipes) == 0;
}

} // namespace

bool has_other_mps() {
    return std::getenv(pipe_variable) || answers(default_pipes);
}

Outcome<void> join_mps(std::uint32_t server) {
    setenv(connections_variable, connections, 0);
    if (has_other_mps())
        return {};
    const std::string folder = own_folder(server);
    if (const auto made = make_folder(folder); !made)
        return made;
    // Two that start at the same time: the second finds the first's.
    const int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0)
        flock(lock, LOCK_EX);
    const bool there = answers(folder) || run_control({"-d"}, "", folder) == 0;
    const int error = errno;
    if (lock >= 0)
        close(lock);
    if (!there)
        return fail(error == ENOENT
                        ? std::string(control) + " (of NVIDIA's driver) is not there, so that tasks "
                          "run one after the other; --no-mps says that this is meant"
                        : std::string(control) + " -d failed; its log is in " + folder +
                              "; --no-mps has tasks run one after the other");
    setenv(pipe_variable, folder.c_str(), 1);
    setenv(log_variable, folder.c_str(), 1);
    return {};
}

Outcome<bool> quit_mps() {
    bool any = false;
    struct stat found {};
    for (std::uint32_t server = 1; server <= servers_max; server++) {
        const std::string folder = own_folder(server);
        if (lstat(folder.c_str(), &found) < 0 || !answers(folder))
            continue;
        if (run_control({}, "quit\n", folder))
            return fail(std::string(control) + " does not quit; its log is in " + folder);
        any = true;
    }
    return any;
}

} // namespace nvtaskset
