// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mps.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "lib/partition/folder.hpp"
#include "lib/partition/variables.hpp"
#include "orphans.hpp"
#include "service.hpp"

namespace nvtaskset {
namespace {

constexpr const char *pipe_variable = "CUDA_MPS_PIPE_DIRECTORY",
                     *log_variable = "CUDA_MPS_LOG_DIRECTORY";
/// The default folder of NVIDIA's MPS.
constexpr const char *default_pipes = "/tmp/nvidia-mps";
constexpr const char *control = "nvidia-cuda-mps-control";
/// The number of channels without MPS. Under MPS the default is smaller, so that streams wait for
/// each other (ECRTS 2025, pitfall 4).
constexpr const char *connections_variable = "CUDA_DEVICE_MAX_CONNECTIONS", *connections = "8";

/// The limit of server numbers. No GPU runs as many tasks.
constexpr std::uint32_t servers_max = 100;

/// A daemon answers a request in milliseconds, starts in one second, and ends after its servers
/// have ended.
constexpr int request_patience_ms = 5'000, daemon_patience_ms = 30'000;

/// Returns the beginning of the paths of nvtaskset's servers, which a number follows.
std::string paths() {
    return runtime_path() + "/mps-";
}

std::string path_of(std::uint32_t server) {
    return paths() + std::to_string(server);
}

/// Opens the folder of one of nvtaskset's servers, into which no other user can put files.
Outcome<Folder> folder_of(std::uint32_t server, bool make) {
    if (const auto parent = Folder::open(runtime_path(), make); !parent)
        return fail(parent.error());
    return Folder::open(path_of(server), make);
}

/// Returns the program that makes a request to the server of a folder, or starts the server if the
/// request is empty.
Service control_of(const std::string &folder, const std::string &request, int patience_ms) {
    const std::vector<std::string> arguments =
        request.empty() ? std::vector<std::string>{"-d"} : std::vector<std::string>{};
    return {control,
            arguments,
            request,
            {std::string(pipe_variable) + "=" + folder, std::string(log_variable) + "=" + folder},
            patience_ms};
}

bool has_socket(const std::string &folder) {
    return access((folder + "/control").c_str(), F_OK) == 0;
}

bool answers(const std::string &folder) {
    if (!has_socket(folder))
        return false;
    const ServiceResult ended =
        run_service(control_of(folder, "get_server_list\n", request_patience_ms));
    // A container may have the server's folder without the control program.
    return ended.is_success() || ended.error == ENOENT;
}

std::string why(const ServiceResult &ended, const std::string &folder) {
    if (ended.error == ENOENT)
        return std::string(control) +
               " (of NVIDIA's driver) is not there, so that tasks run one after the "
               "other; --no-mps confirms that this is intended";
    const std::string otherwise =
        "; its log is in " + folder + "; --no-mps has tasks run one after the other";
    if (ended.error)
        return std::string(control) + " cannot be run: " + std::strerror(ended.error) + otherwise;
    return std::string(control) + " -d " + (ended.late ? "did not end" : "failed") + otherwise;
}

/// Returns true if the folder belongs to root or this user. Any user may make a folder in /tmp, and
/// NVIDIA's program trusts its content.
bool is_trusted(const std::string &folder) {
    struct stat found {};
    return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
           (found.st_uid == 0 || found.st_uid == geteuid());
}

} // namespace

void leave_mps() {
    const char *const named = variable(pipe_variable);
    if (!named || !std::string_view(named).starts_with(paths()))
        return;
    unsetenv(pipe_variable);
    unsetenv(log_variable);
}

OtherMps other_mps() {
    const char *const named = variable(pipe_variable);
    const std::string folder = named ? named : default_pipes;
    return {named != nullptr, (named || is_trusted(folder)) && answers(folder), folder};
}

void set_connections() {
    if (!variable(connections_variable))
        setenv(connections_variable, connections, 1);
}

Outcome<void> join_mps(std::uint32_t server) {
    const auto folder = folder_of(server, true);
    if (!folder)
        return fail(folder.error());
    const std::string &path = folder->path();
    if (!answers(path)) {
        const Service start = control_of(path, "", daemon_patience_ms);
        const ServiceResult started = start_daemon([&] {
            const ServiceResult in_scope = run_in_scope(start);
            return in_scope.is_success() || answers(path) ? in_scope : run_service(start);
        });
        // If two processes start the server at the same time, one fails and uses the other's
        // server.
        if (!started.is_success() && (started.error || !answers(path)))
            return fail(why(started, path), Exit::failed);
    }
    setenv(pipe_variable, path.c_str(), 1);
    setenv(log_variable, path.c_str(), 1);
    return {};
}

Outcome<bool> quit_mps() {
    bool any = false;
    struct stat found {};
    for (std::uint32_t server = 1; server <= servers_max; server++) {
        if (lstat(path_of(server).c_str(), &found) < 0)
            continue;
        const auto folder = folder_of(server, false);
        if (!folder)
            return fail(folder.error());
        if (!answers(folder->path()))
            continue;
        if (!run_service(control_of(folder->path(), "quit\n", daemon_patience_ms)).is_success())
            return fail(std::string(control) + " does not quit; its log is in " + folder->path(),
                        Exit::failed);
        any = true;
    }
    return any;
}

} // namespace nvtaskset
