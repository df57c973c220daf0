// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Words that name processes: by number, container, pod, job, command or cgroup, as people
/// copy them from ps, docker, kubectl, squeue and /proc. All programs read them here, from options,
/// files and requests alike. Each reader returns the word as it is compared with what is known of
/// processes, or a sentence that says why it can fit none, and what to write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

template <typename T>
using Named = tl::expected<T, std::string>;

/// The number of a process: 1 to 4194304, which is Linux' limit (PID_MAX_LIMIT), without a zero in
/// front.
[[nodiscard]] Named<std::uint32_t> read_pid(std::string_view text);

/// The id of a container, or its begin, in any case: `3f2a`, `containerd://3f2a…`. Returned in
/// lower case and without the runtime.
[[nodiscard]] Named<std::string> read_container(std::string_view text);

/// The uid of a pod, or its begin, in any case: `0f5a1c2e-1111…`, and of a pod from a file
/// ("static") 32 hexadecimal digits. systemd's form with `_`, and `pod` in front, are taken.
[[nodiscard]] Named<std::string> read_pod(std::string_view text);

/// `17`, and one step of it, `17.0`, `17.batch`.
[[nodiscard]] Named<std::string> read_job(std::string_view text);

/// Linux keeps so many bytes of the name of a command (TASK_COMM_LEN, without the end).
constexpr std::size_t command_bytes = 15;

/// The name of a command; of a longer one the bytes that Linux keeps.
[[nodiscard]] Named<std::string> read_command(std::string_view text);

/// A sentence on a name of which Linux does not keep all; empty: it keeps all.
[[nodiscard]] std::string note_on_command(std::string_view text);

/// A path from the root of a hierarchy on. A folder where a hierarchy is mounted is taken off, as
/// `/sys/fs/cgroup`, and what stands before the path in /proc/PID/cgroup; so is a slash at the end.
[[nodiscard]] Named<std::string> read_cgroup(std::string_view text);

/// Is there a cgroup of that path in a hierarchy that is mounted here? nullopt: it cannot be found
/// out, as no hierarchy is mounted, or the path leads out of a namespace (`/../x`).
[[nodiscard]] std::optional<bool> is_cgroup(const std::string &path);

/// Does this process have the machine's own cgroup namespace? In another one paths of other
/// programs may differ.
[[nodiscard]] bool has_first_cgroup_namespace();

} // namespace nvdebug::base
