// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads words that name processes: by number, container, pod, job, command or cgroup, as
/// people copy them from ps, docker, kubectl, squeue and /proc. Options, files and requests of all
/// programs are read here. Each reader returns the word in the form in which facts about processes
/// have it, or a sentence that says why the word fits no process, and what to write instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

template <typename T>
using Named = tl::expected<T, std::string>;

/// Reads the number of a process: 1 to 4194304, which is Linux' limit (PID_MAX_LIMIT), without
/// leading zeros.
[[nodiscard]] Named<std::uint32_t> read_pid(std::string_view text);

/// Reads the id of a container, or how it begins, in any case: `3f2a`, `containerd://3f2a…`.
/// Returns the id in lower case and without the runtime.
[[nodiscard]] Named<std::string> read_container(std::string_view text);

/// Reads the uid of a pod, or how it begins, in any case: `0f5a1c2e-1111…`. The uid of a pod from a
/// file ("static") has 32 hexadecimal digits. systemd's form with `_`, and `pod` in front, are
/// accepted.
[[nodiscard]] Named<std::string> read_pod(std::string_view text);

/// Reads the number of a Slurm job, or of one of its steps: `17`, `17.0`, `17.batch`.
[[nodiscard]] Named<std::string> read_job(std::string_view text);

/// Linux keeps this many bytes of a command's name (TASK_COMM_LEN without the final 0).
constexpr std::size_t command_bytes = 15;

/// Reads the name of a command, and cuts it to the bytes that Linux keeps.
[[nodiscard]] Named<std::string> read_command(std::string_view text);

/// Returns a sentence about a name that Linux cuts; empty: Linux keeps the whole name.
[[nodiscard]] std::string note_on_command(std::string_view text);

/// Reads the path of a cgroup from the root of a hierarchy on. Removes the folder where a hierarchy
/// is mounted (`/sys/fs/cgroup`), the fields before the path in a line of /proc/PID/cgroup, and a
/// slash at the end.
[[nodiscard]] Named<std::string> read_cgroup(std::string_view text);

/// The mounts that this process sees.
inline constexpr const char *own_mounts = "/proc/self/mountinfo";

/// Returns whether a hierarchy that is mounted here has a cgroup with this path. Returns nullopt if
/// this is unknown: no hierarchy is mounted from its root on, as in a container, or the path leads
/// out of a namespace (`/../x`).
/// @param mountinfo for tests
[[nodiscard]] std::optional<bool> is_cgroup(const std::string &path,
                                            const std::string &mountinfo = own_mounts);

/// Returns whether this process is in the machine's first cgroup namespace. In another namespace,
/// the paths that other programs print may differ.
[[nodiscard]] bool has_first_cgroup_namespace();

/// Has this thread, and threads that it starts later, read and write paths of cgroups as process 1
/// does, which in a container with the host's pids is the host's. It takes root with CAP_SYS_ADMIN
/// and CAP_SYS_PTRACE. Returns false, and changes nothing, where that is refused.
bool enter_cgroup_namespace_of_init();

} // namespace nvdebug::base
