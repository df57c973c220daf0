// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief The container, pod, job and step of a process, by its cgroup.
#pragma once

#include <optional>
#include <string>

#include "nvdebug/export.hpp"
#include "nvdebug/owner.hpp"

namespace nvdebug {

/// Ids are read only from names that a runtime chose. A cgroup that a user may name (below
/// `user.slice`, or within a unit or a container of LXC) gives no ids. In a cgroup namespace, paths
/// begin at the reader's own cgroup, and `/../…` leads to its siblings. Their ids are read.
struct Identity {
    /// The outermost container: 64 hexadecimal digits, by the names that Docker, containerd, CRI-O
    /// and Podman give cgroups. These are `/docker/ID`, also below another `--cgroup-parent`,
    /// `docker-ID.scope`, `libpod-ID.scope`, and directly below a unit of the system
    /// `SLICE:RUNTIME:ID` and `libpod-payload-ID`.
    std::optional<std::string> container = {};
    /// The pod's uid, by the names that kubelet gives cgroups below `kubepods`: `0f5a1c2e-…`, or 32
    /// digits for a static pod.
    std::optional<std::string> pod = {};
    /// The number of the Slurm job, by the names that slurmd gives cgroups at the root, or below
    /// its own container or pod: `/slurm/uid_1000/job_42/step_0`,
    /// `/system.slice/slurmstepd.scope/job_42/step_0`. Where a machine has several slurmd, `_NODE`
    /// stands after `slurm`, or `NODE_` before `slurmstepd`
    /// (https://slurm.schedmd.com/cgroup_v2.html).
    std::optional<std::string> job = {};
    std::optional<std::string> step = {}; ///< of the job: `0`, `batch`, `extern`, `interactive`
    bool operator==(const Identity &) const = default;
};

/// Returns the ids that the process's cgroup has. Ids that are unknown are empty.
NVDEBUG_API Identity identity_of(const Process &process);

} // namespace nvdebug
