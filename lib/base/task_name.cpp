// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task_name.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "cgroup.hpp"
#include "gpu_name.hpp"
#include "printable.hpp"
#include "uuid_form.hpp"

namespace nvdebug::base {
namespace {

std::string quoted(std::string_view text) {
    constexpr std::size_t most = 80;
    return "'" + printable(text.substr(0, most)) + (text.size() > most ? "...'" : "'");
}

bool is_decimal(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Returns whether @p text is a number as kernels and Slurm print it, without leading zeros.
bool is_number(std::string_view text) {
    return is_decimal(text) && (text.size() == 1 || text.front() != '0');
}

/// Returns the name if it may stand in a command line without quotes, and else @p other.
std::string in_command(std::string_view name, const char *other) {
    const bool plain = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
    return plain && name.front() != '-' ? std::string(name) : other;
}

struct CgroupMount {
    std::string root;   ///< the cgroup that is mounted, as this process' cgroup namespace names it
    std::string folder; ///< where it is mounted
};

/// Returns the mounts of hierarchies of cgroups, by a text in the form of /proc/self/mountinfo
/// (proc_pid_mountinfo(5)).
std::vector<CgroupMount> cgroup_mounts(const std::string &mountinfo) {
    std::ifstream file(mountinfo);
    std::vector<CgroupMount> mounts;
    for (std::string line; std::getline(file, line);) {
        const std::size_t dash = line.find(" - ");
        std::istringstream words(line);
        std::string id, parent, device, root, folder;
        if (dash == line.npos || !(words >> id >> parent >> device >> root >> folder))
            continue;
        const std::string_view type = std::string_view(line).substr(dash + 3);
        if (type.starts_with("cgroup ") || type.starts_with("cgroup2 "))
            mounts.push_back({root, folder});
    }
    return mounts;
}

/// Returns the path of a line of /proc/PID/cgroup: `0::/x`, `4:memory:/x`.
std::string_view path_of_line(std::string_view text) {
    const std::size_t first = text.find(':');
    const std::size_t second = first == text.npos ? text.npos : text.find(':', first + 1);
    const bool is_line = second != text.npos && second + 1 < text.size() &&
                         is_decimal(text.substr(0, first)) && text[second + 1] == '/' &&
                         text.substr(0, second).find('/') == text.npos;
    return is_line ? text.substr(second + 1) : text;
}

} // namespace

Named<std::uint32_t> read_pid(std::string_view text) {
    constexpr std::uint32_t most = 4'194'304;
    std::uint32_t pid = 0;
    if (!is_number(text) || text == "0")
        return tl::unexpected(quoted(text) + " is no number of a process");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (error != std::errc() || pid > most)
        return tl::unexpected("there is no such process as " + printable(text.substr(0, 40)) +
                              ": Linux counts them to " + std::to_string(most));
    return pid;
}

Named<std::string> read_container(std::string_view text) {
    constexpr std::size_t digits = 64;
    std::string_view id = text;
    if (const std::size_t scheme = id.find("://"); scheme != id.npos)
        id.remove_prefix(scheme + 3);
    std::string low = lower(id);
    if (!low.empty() && is_hex(low) && low.size() <= digits)
        return low;
    if (!low.empty() && is_hex(low))
        return tl::unexpected(quoted(text) + " is no id of a container: it has " +
                              std::to_string(low.size()) + " hexadecimal digits, and ids have 64");
    return tl::unexpected(
        quoted(text) +
        " is no id of a container, which has hexadecimal digits alone. It is printed by: docker "
        "inspect -f '{{.Id}}' " +
        in_command(id, "NAME") +
        " (podman likewise), crictl ps --no-trunc, or kubectl get pod "
        "POD -o jsonpath='{.status.containerStatuses[*].containerID}'");
}

Named<std::string> read_pod(std::string_view text) {
    constexpr std::size_t digits_of_static = 32;
    std::string uid = lower(text);
    std::ranges::replace(uid, '_', '-');
    if (uid.starts_with("pod"))
        uid.erase(0, 3);
    if (!uid.empty() && (is_uuid_begin(uid) || (is_hex(uid) && uid.size() <= digits_of_static)))
        return uid;
    return tl::unexpected(quoted(text) +
                          " is no uid of a pod, as 0f5a1c2e-1111-4222-8333-abcdefabcdef. It is "
                          "printed by: kubectl get pod " +
                          in_command(text, "NAME") +
                          " -o jsonpath='{.metadata.uid}'; of a static pod the annotation "
                          "kubernetes.io/config.hash has it, 32 digits");
}

Named<std::string> read_job(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (is_number(text.substr(0, dot)) && (dot == text.npos || is_step(text.substr(dot + 1))))
        return std::string(text);
    return tl::unexpected(quoted(text) +
                          " is no number of a job, or of a job and a step, as 17, 17.0 or "
                          "17.batch; 'squeue -o %A' lists jobs by number, also those of arrays");
}

Named<std::string> read_command(std::string_view text) {
    if (text.empty() || text.find_first_of(std::string_view("\0\n", 2)) != text.npos)
        return tl::unexpected(quoted(text) + " is no name of a command");
    return std::string(text.substr(0, command_bytes));
}

std::string note_on_command(std::string_view text) {
    if (text.size() <= command_bytes)
        return "";
    return quoted(text) + ": Linux keeps " + std::to_string(command_bytes) +
           " bytes of a command's name, so that all processes named " +
           quoted(text.substr(0, command_bytes)) + " fit";
}

Named<std::string> read_cgroup(std::string_view text) {
    std::string path(path_of_line(text));
    const auto wrong = [&](const char *why) {
        return tl::unexpected(quoted(text) + " is no cgroup: " + why +
                              ", as /system.slice/x.service; /proc/PID/cgroup has that of a "
                              "process");
    };
    if (!path.starts_with('/'))
        return wrong("write its path from the root of cgroups on");
    for (std::size_t at; (at = path.find("//")) != path.npos;)
        path.erase(at, 1);
    std::string folder;
    std::vector<CgroupMount> mounts = cgroup_mounts(own_mounts);
    // The usual folder is taken off also where no hierarchy is mounted.
    mounts.push_back({"/", "/sys/fs/cgroup"});
    for (const CgroupMount &mount : mounts)
        if (mount.folder.size() > folder.size() && path.starts_with(mount.folder) &&
            (path.size() == mount.folder.size() || path[mount.folder.size()] == '/'))
            folder = mount.folder;
    path.erase(0, folder.size());
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    if (path.empty())
        path = "/";
    // Within a cgroup namespace, a path outside of it begins with /.. and has .. in no other place.
    std::string_view rest = path;
    while (rest == "/.." || rest.starts_with("/../"))
        rest.remove_prefix(3);
    const std::string inner = std::string(rest) + "/";
    if (inner.find("/../") != inner.npos || inner.find("/./") != inner.npos)
        return wrong("write its path without . and ..");
    return path;
}

std::optional<bool> is_cgroup(const std::string &path, const std::string &mountinfo) {
    std::vector<CgroupMount> mounts = cgroup_mounts(mountinfo);
    // A container has its own cgroup mounted, below which others' paths are not to be found.
    std::erase_if(mounts, [](const CgroupMount &mount) { return mount.root != "/"; });
    if (mounts.empty() || path == "/.." || path.starts_with("/../"))
        return std::nullopt;
    return std::ranges::any_of(mounts, [&](const CgroupMount &mount) {
        struct stat found {};
        return ::stat((mount.folder + path).c_str(), &found) == 0 && S_ISDIR(found.st_mode);
    });
}

bool has_first_cgroup_namespace() {
    constexpr ino_t first = 0xeffffffb; // PROC_CGROUP_INIT_INO of include/linux/proc_ns.h
    struct stat found {};
    return ::stat("/proc/self/ns/cgroup", &found) == 0 && found.st_ino == first;
}

bool enter_cgroup_namespace_of_init() {
    const int first = ::open("/proc/1/ns/cgroup", O_RDONLY | O_CLOEXEC);
    if (first < 0)
        return false;
    const bool is_in = ::setns(first, CLONE_NEWCGROUP) == 0;
    ::close(first);
    return is_in;
}

} // namespace nvdebug::base
