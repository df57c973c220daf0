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
    bool injected; ///< CUDA has loaded the library into the process
    bool uses_gpu; ///< the process has NVIDIA's device open
};

struct Task {
    std::shared_ptr<Page> page;
    std::vector<Process> processes; ///< by pid
};

/// The effect of nvtaskset on a process on a GPU.
struct Keeping {
    std::optional<std::uint32_t> tpcs; ///< size of the partition; nullopt: none on this GPU
    bool kept; ///< false: some launches were not kept to it, or CUDA did not load the library
};

/// Returns nullopt if no partition was asked for, or if this user may not look into the process.
[[nodiscard]] std::optional<Keeping> keeping_of(pid_t pid, const std::string &pci_address);

/// Returns the number of launches that should have been kept to a partition and were not.
/// @param slot of a GPU, or nullptr
std::uint64_t unkept_launches(const State &state, const Slot *slot);

/// Returns the page of a process' task, or nullptr if it has none or this user may not look. It
/// reads descriptors, mappings and the environment of the process, which its user may make slow, so
/// it is not for a thread with a deadline.
[[nodiscard]] std::shared_ptr<Page> page_of(pid_t pid, Access access);
/// Returns the tasks that this user may look into, by their oldest pid.
[[nodiscard]] std::vector<Task> tasks();
/// Returns the task of a process, or a failure that names what is missing.
[[nodiscard]] Outcome<Task> task_of(pid_t pid, Access access);

/// Returns the process as it is now, or nullopt if there is none or this user may not look into it.
[[nodiscard]] std::optional<Process> look_at(pid_t pid);

} // namespace nvtaskset
