// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Where a process belongs, by its cgroup: container, pod, job and step.
#pragma once

#include <optional>
#include <string>

#include "nvdebug/export.hpp"
#include "nvdebug/owner.hpp"

namespace nvdebug {

/// Ids are taken only where a runtime writes them: of a cgroup that a user may name (below
/// `user.slice`, or a unit's or LXC's own) nothing is taken. A reader in a cgroup namespace has
/// paths from its own cgroup on, `/../…`: ids of its siblings are taken there.
struct Identity {
    /// 64 hexadecimal digits, as Docker, containerd, CRI-O and Podman name cgroups: `/docker/ID`
    /// and below another `--cgroup-parent`, `docker-ID.scope`, `libpod-ID.scope`, and just below a
    /// unit of the system `SLICE:RUNTIME:ID` and `libpod-payload-ID`. The outermost.
    std::optional<std::string> container = {};
    /// Its uid, as kubelet names cgroups by it below `kubepods`: `0f5a1c2e-…`, or 32 digits of a
    /// static pod.
    std::optional<std::string> pod = {};
    /// The number of the Slurm job, as slurmd names cgroups by it at the root:
    /// `/slurm/uid_1000/job_42/step_0`, `/system.slice/slurmstepd.scope/job_42/step_0`, and with
    /// `_NODE` after `slurm` or `NODE_` before `slurmstepd` where a machine has several slurmd
    /// (https://slurm.schedmd.com/cgroup_v2.html). Also below the container or pod of slurmd.
    std::optional<std::string> job = {};
    std::optional<std::string> step = {}; ///< of the job: `0`, `batch`, `extern`, `interactive`
    bool operator==(const Identity &) const = default;
};

/// Returns what the process' cgroup has of it; nothing, where that is not known.
NVDEBUG_API Identity identity_of(const Process &process);

} // namespace nvdebug
