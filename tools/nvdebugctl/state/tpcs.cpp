// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tpcs.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "cli/json.hpp"
#include "lib/partition/tasks.hpp"

namespace nvdebugctl {

std::string nvtaskset_path() {
    std::error_code error;
    const auto beside =
        std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "nvtaskset";
    return !error && access(beside.c_str(), X_OK) == 0 ? beside.string() : "nvtaskset";
}

Json keeping_of(const Context &context, std::uint32_t pid) {
    const auto info = context.gpu().info();
    const bool here =
        context.gpu().tree().source() == nvdebug::Source::driver && info && info->pci_address;
    const auto keeping =
        here ? nvtaskset::keeping_of(static_cast<pid_t>(pid), *info->pci_address) : std::nullopt;
    return {{"tpcs", keeping ? or_null(keeping->tpcs) : Json()},
            {"kept", keeping ? Json(keeping->kept) : Json()}};
}

Outcome<void> set_tpcs(std::uint32_t pid, const std::string &pci_address, const std::string &option,
                       const std::string &value) {
    const std::string path = nvtaskset_path();
    std::vector<std::string> words{"nvtaskset", "-p",   "-q",  "-i",
                                   pci_address, option, value, std::to_string(pid)};
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = -1;
    if (const int number =
            posix_spawnp(&child, path.c_str(), nullptr, nullptr, arguments.data(), environ))
        return fail(nvdebug::code_of_errno(number),
                    fmt::format("nvtaskset, which sets TPCs, cannot be run: {}; it is of the same "
                                "package",
                                std::strerror(number)));
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (ended != child)
        return fail(nvdebug::code_of_errno(errno),
                    fmt::format("whether the TPCs of process {} are set is not known: {}", pid,
                                std::strerror(errno)));
    // nvtaskset has printed the reason, and its exit statuses mean the same as ours.
    const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : failed;
    if (exit)
        return tl::unexpected(
            Failure(exit <= failed ? static_cast<Exit>(exit) : failed,
                    {nvdebug::ErrorCode::invalid, 0, "",
                     fmt::format("the TPCs of process {} are as they were", pid)}));
    return {};
}

} // namespace nvdebugctl
