// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Tasks: processes that share a page of partitions. */
#ifndef NVTASKSET_TASKS_HPP
#define NVTASKSET_TASKS_HPP

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
    ino_t inode;
    std::vector<Process> processes; ///< by pid
    std::shared_ptr<Page> page;
    /** Held by who changes the partitions: flock(). */
    int descriptor;

    explicit Task(ino_t number, std::shared_ptr<Page> shared, int open)
        : inode(number), page(std::move(shared)), descriptor(open) {}
    Task(Task &&other) noexcept;
    Task &operator=(Task &&other) noexcept;
    ~Task();
};

/** That of a process; nullptr: it has none, or this user may not look. */
std::shared_ptr<Page> page_of(pid_t pid);

/** How many TPCs of a GPU a process is kept to; nullopt: it is not, or this user may not look. */
std::optional<std::uint32_t> tpcs_kept_to(pid_t pid, const std::string &pci_address);

/** Those that this user may look into, by their oldest pid. */
std::vector<Task> tasks();
/** That of a process; the sentence says what it lacks. */
Outcome<Task> task_of(pid_t pid);

/** The process as it is now; nullopt: there is none, or this user may not look into it. */
std::optional<Process> look_at(pid_t pid);

} // namespace nvtaskset

#endif
