// SPDX-License-Identifier: MIT OR GPL-2.0
#include "processes.hpp"

#include "lib/base/cgroup.hpp"
#include "lib/base/process.hpp"
#include "lib/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace nvdebug::driver {
namespace {

template <typename T>
std::optional<T> whole_number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

} // namespace

std::string folder_of(std::uint32_t pid) {
    return "/proc/" + std::to_string(pid) + "/";
}

std::optional<std::uint32_t> number_of(std::string_view name) {
    return whole_number<std::uint32_t>(name);
}

// The four numbers of proc_pid_status(5) are the real, effective and saved user, and that of file
// systems.
std::optional<std::uint32_t> uid_of(Kernel &kernel, std::uint32_t pid) {
    constexpr std::string_view key = "\nUid:";
    const std::string status = kernel.read(folder_of(pid) + "status");
    const std::size_t begin = status.find(key);
    if (begin == status.npos)
        return std::nullopt;
    std::string_view numbers = std::string_view(status).substr(begin + key.size());
    numbers = text::take_until(numbers, '\n');
    text::take_until(numbers, '\t');
    text::take_until(numbers, '\t');
    return whole_number<std::uint32_t>(text::take_until(numbers, '\t'));
}

std::optional<std::uint64_t> start_of(Kernel &kernel, std::uint32_t pid) {
    constexpr int starttime = 22;
    const std::string stat = kernel.read(folder_of(pid) + "stat");
    return whole_number<std::uint64_t>(base::stat_field(stat, starttime));
}

std::optional<std::uint32_t> launcher_of(Kernel &kernel, std::uint32_t pid) {
    // Names in /proc/PID/comm, and beginnings of names. A container's init and the shim of its
    // runtime stand for a parent that has ended.
    constexpr std::array names = {
        "sh",     "bash",   "dash",   "zsh",   "ksh",       "mksh",     "fish",
        "csh",    "tcsh",   "ash",    "rbash", "busybox",   "pwsh",     "slurm_script",
        "init",   "tini",   "conmon", "login", "dumb-init", "su",       "sudo",
        "screen", "SCREEN", "cron",   "xargs", "make",      "parallel", "raylet"};
    constexpr std::array beginnings = {"systemd", "containerd-shim", "sshd",
                                       "tmux",    "jupyter",         "supervisor"};
    constexpr int ppid = 4;
    const std::string stat = kernel.read(folder_of(pid) + "stat");
    const auto parent = whole_number<std::uint32_t>(base::stat_field(stat, ppid));
    if (!parent || *parent <= 1)
        return std::nullopt;
    const std::string name = command_of(kernel, *parent);
    const bool starts_unrelated =
        name.empty() || std::ranges::find(names, name) != names.end() ||
        std::ranges::any_of(beginnings, [&](const char *one) { return name.starts_with(one); });
    return starts_unrelated ? std::nullopt : parent;
}

DescriptorFolder descriptors_of(Kernel &kernel, std::uint32_t pid) {
    DescriptorFolder found{.path = folder_of(pid) + "fd"};
    found.error = kernel.list(found.path, found.names);
    found.path += "/";
    if (found.error || !found.names.empty())
        return found;
    const std::string stat = kernel.read(folder_of(pid) + "stat");
    if (!base::has_first_thread_ended(stat) || base::has_ended(stat))
        return found;
    constexpr std::size_t threads_most = 1024;
    std::vector<std::string> threads;
    kernel.list(folder_of(pid) + "task", threads);
    threads.resize(std::min(threads.size(), threads_most));
    for (const std::string &name : threads) {
        const auto thread = number_of(name);
        const std::string folder = folder_of(pid) + "task/" + name + "/fd";
        if (!thread || *thread == pid)
            continue;
        found.names.clear();
        found.error = kernel.list(folder, found.names);
        if (!found.error && !found.names.empty()) {
            found.path = folder + "/";
            found.thread = thread;
            return found;
        }
    }
    found.error = 0;
    return found;
}

bool has_open(Kernel &kernel, std::uint32_t pid, std::uint64_t gpu) {
    const DescriptorFolder descriptors = descriptors_of(kernel, pid);
    return std::ranges::any_of(descriptors.names, [&](const std::string &name) {
        return kernel.device(descriptors.path + name) == gpu;
    });
}

std::string cgroup_of(Kernel &kernel, std::uint32_t pid) {
    return base::path_in(kernel.read(folder_of(pid) + "cgroup"));
}

std::string command_of(Kernel &kernel, std::uint32_t pid) {
    const std::string text = kernel.read(folder_of(pid) + "comm");
    return text.substr(0, text.find('\n'));
}

} // namespace nvdebug::driver
