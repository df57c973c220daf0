// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief `owners`: which process made which channel, from NVIDIA's driver only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/export.hpp"
#include "nvdebug/memory.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebug {

/// A process that has the GPU open. A pid does not identify it for long, because Linux reuses
/// numbers.
struct Process {
    std::uint32_t pid;                     ///< in the PID namespace of the process that read it
    std::optional<std::string> command;    ///< `/proc/PID/comm`, at most 15 bytes of any kind
    std::optional<std::string> cgroup;     ///< a path of `/proc/PID/cgroup`, see identity.hpp
    std::optional<std::uint32_t> uid = {}; ///< effective user; empty in older captures, or if
                                           ///< unknown
    /// The start in clock ticks since the machine started (proc_pid_stat(5)); empty: unknown, as in
    /// older captures.
    std::optional<std::uint64_t> started = {};
    /// The pid of the process that started it, as torchrun or mpirun starts the ranks of a job; empty:
    /// that is process 1, or a program that starts unrelated ones (a shell, a service manager), or it
    /// is unknown, as in older captures.
    std::optional<std::uint32_t> launcher = {};
    bool operator==(const Process &) const = default;
};

/// A channel by the names that its process uses.
struct OwnedChannel {
    std::uint32_t pid;
    std::uint32_t client;                      ///< the driver's name of the process's client
    std::optional<std::uint32_t> tsg;          ///< the client's name of the TSG, no hardware id
    std::optional<std::uint64_t> timeslice_ns; ///< of the TSG, as set through the driver
    std::uint32_t channel;                     ///< the client's name of the channel, no hardware id
    Place instance_place; ///< of its instance block; empty: only root may read it
};

/// The channels of processes, and counts of the ones that were left out.
struct Owners {
    std::vector<Process> processes;     ///< from the oldest to the youngest
    std::vector<OwnedChannel> channels; ///< by process
    /// Processes that this reader may not examine. Some of them may use the GPU.
    std::uint32_t hidden = 0;
    std::uint32_t denied = 0;  ///< processes that have the GPU open, but may not be queried
    std::uint32_t ended = 0;   ///< processes and clients that ended during the search
    std::uint32_t refused = 0; ///< queries that the driver or the kernel did not answer
    /// Pids of processes that have more descriptors, clients or objects than a search examines.
    /// Some of their channels may be missing.
    std::vector<std::uint32_t> cut = {};
    /// The resource that this process lacked, as `Too many open files`. Processes may be missing
    /// then.
    std::optional<std::string> lacked = {};
};

/// Returns the process that made a channel of a list, which is the process with a channel that has
/// its instance block at the same place. Returns nullptr if no process is known, as for the
/// kernel's own channels, or if several processes have such a channel. The pointer lives as long as
/// @p owners.
NVDEBUG_API const Process *owner_of(const Owners &owners, const Channel &channel);
const Process *owner_of(const Owners &&owners, const Channel &channel) = delete;

/// Returns whether both are the same process: their pids are equal, and so are their starts, if
/// both are known.
NVDEBUG_API bool same_process(const Process &a, const Process &b);

/// Returns Identity::container of the process: the id of its outermost container, 64 hexadecimal
/// digits.
NVDEBUG_API std::optional<std::string> container_of(const Process &process);

/// Returns Identity::pod of the process: the uid of its pod, `0f5a1c2e-…`.
NVDEBUG_API std::optional<std::string> pod_of(const Process &process);

/// Returns Identity::job of the process: the number of its Slurm job.
NVDEBUG_API std::optional<std::string> job_of(const Process &process);

} // namespace nvdebug
