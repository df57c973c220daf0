// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `owners`: which process made which channel. Only NVIDIA's driver as the source has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/export.hpp"
#include "nvdebug/memory.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebug {

/// A process that has the GPU open. A pid alone is no process: numbers are given again.
struct Process {
    std::uint32_t pid;                     ///< as the process that read it sees it
    std::optional<std::string> command;    ///< `/proc/PID/comm`, at most 15 bytes of any kind
    std::optional<std::string> cgroup;     ///< a path of `/proc/PID/cgroup`, see identity.hpp
    std::optional<std::uint32_t> uid = {}; ///< its effective user; empty also in older captures
    /// When it was started, in clock ticks since the machine was (proc_pid_stat(5)); empty: not
    /// known, as in older captures.
    std::optional<std::uint64_t> started = {};
    bool operator==(const Process &) const = default;
};

/// A channel as the process that made it knows it.
struct OwnedChannel {
    std::uint32_t pid;
    std::uint32_t client;                      ///< the driver's name of the process' client
    std::optional<std::uint32_t> tsg;          ///< the client's name of its TSG: no hardware id
    std::optional<std::uint64_t> timeslice_ns; ///< of the TSG, as the driver was asked for
    std::uint32_t channel;                     ///< the client's name of it: no hardware id
    Place instance_place; ///< of its instance block; empty: only root may know it
};

struct Owners {
    std::vector<Process> processes;     ///< the oldest first
    std::vector<OwnedChannel> channels; ///< by process
    /// Processes that this reader may not look at; whether they use the GPU is not known.
    std::uint32_t hidden = 0;
    std::uint32_t denied = 0;  ///< processes that have the GPU open and may not be asked about
    std::uint32_t ended = 0;   ///< processes and clients that ended while they were looked at
    std::uint32_t refused = 0; ///< questions that the driver, or the kernel, did not answer
    /// Pids of processes that have more descriptors, clients or objects of the driver than are
    /// asked about: not all of their channels may be known.
    std::vector<std::uint32_t> cut = {};
    /// What this process lacked, as `Too many open files`: processes may be missing.
    std::optional<std::string> lacked = {};
};

/// The process that made a channel of a list: its channel has an instance block at the same place.
/// nullptr: not known, none (the kernel's own channels), or several. Lives as long as @p owners.
NVDEBUG_API const Process *owner_of(const Owners &owners, const Channel &channel);
const Process *owner_of(const Owners &&owners, const Channel &channel) = delete;

/// Are both the same process? No, if they have different pids, or were started at different times:
/// then the number was given again. Where a start is not known, pids decide.
NVDEBUG_API bool same_process(const Process &a, const Process &b);

/// The id of the container that the process is in, if its cgroup has one: 64 hexadecimal digits, as
/// Docker, containerd, CRI-O and Podman name cgroups (`/docker/ID`, `docker-ID.scope`, below a pod
/// of `kubepods`). The outermost. Of a cgroup that a user may name (below `user.slice` or a unit's
/// own) nothing is taken.
NVDEBUG_API std::optional<std::string> container_of(const Process &process);

/// The uid of the pod that the process is in, as kubelet names cgroups by it below `kubepods`:
/// `0f5a1c2e-…`; the same rule.
NVDEBUG_API std::optional<std::string> pod_of(const Process &process);

/// The number of the Slurm job that the process is in, as slurmd names cgroups by it at the root:
/// `/slurm/uid_1000/job_42/…`, `/system.slice/slurmstepd.scope/job_42/…`, and with `_NODE` after
/// `slurm` or `NODE_` before `slurmstepd` where a machine has several slurmd
/// (https://slurm.schedmd.com/cgroup_v2.html).
NVDEBUG_API std::optional<std::string> job_of(const Process &process);

} // namespace nvdebug
