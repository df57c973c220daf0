// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Tasks: processes that share a page of partitions.
#pragma once

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "gpu_map.hpp"
#include "page.hpp"

namespace nvtaskset {

struct Process {
    pid_t pid;
    std::string command;
    bool injected; ///< CUDA has loaded the library in it
    bool uses_gpu; ///< it has NVIDIA's device open
};

struct Task {
    std::shared_ptr<Page> page;
    std::vector<Process> processes; ///< by pid
};

/// What nvtaskset does for a process on a GPU.
struct Keeping {
    std::optional<std::uint32_t>
        tpcs;  ///< how many it is kept to; nullopt: it has no partition there
    bool kept; ///< false: some of its launches were not, or CUDA did not load the library
};

/// nullopt: it was asked for no partition, or this user may not look.
[[nodiscard]] std::optional<Keeping> keeping_of(pid_t pid, const std::string &pci_address);

/// Launches of a task that were not kept to the partition that was asked for. @p slot of a GPU, or
/// nullptr.
std::uint64_t unkept_launches(const State &state, const Slot *slot);

/// The page of a process' task. nullptr: it has none, or this user may not look. Reads what the
/// process' user decides on (descriptors, mappings, the environment): not for a thread with a
/// deadline.
[[nodiscard]] std::shared_ptr<Page> page_of(pid_t pid, Access access);
/// Those that this user may look into, by their oldest pid.
[[nodiscard]] std::vector<Task> tasks();
/// The task of a process; a failure names what is missing.
[[nodiscard]] Outcome<Task> task_of(pid_t pid, Access access);

/// The process as it is now; nullopt: there is none, or this user may not look into it.
[[nodiscard]] std::optional<Process> look_at(pid_t pid);

} // namespace nvtaskset
