// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The processes of a run, from their start to their end.
#pragma once

#include <csignal>
#include <sched.h>
#include <sys/types.h>

#include "keeper.hpp"
#include "lib/stgm/memory.hpp"
#include "lib/stgm/trace.hpp"

namespace nvstgm {

inline constexpr stgm::Time ns_per_us = 1000, ns_per_s = 1'000'000'000;

/// The run that the command line of `run` asks for.
struct Order {
    stgm::Ways ways{};
    stgm::Time duration = 0;         ///< ns
    std::vector<stgm::Time> offsets; ///< ns
    /// The set for whose lengths the work is made. It has the same tasks, perhaps with other
    /// lengths.
    stgm::TaskSet work;
    std::vector<std::string> programs; ///< each task's command for sh; empty: the built-in work
};

/// The processes of the tasks. The destructor kills the processes that still run.
class Running {
  public:
    explicit Running(const stgm::TaskSet &set);
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    ~Running();

    /// Makes the memory that is shared with the tasks.
    Outcome<void> share(const Order &order);
    /// Starts a process for each task. Its kernels run on the task's TPCs, or on all TPCs if copies
    /// and kernels are unmanaged.
    Outcome<void> start(const Keeper &keeper, std::size_t all_tpcs,
                        const std::vector<std::string> &programs);
    /// Waits until all tasks are ready, and lets them begin.
    Outcome<void> begin();
    /// Waits until all tasks have ended. @return false: the run was stopped before its time
    bool finish();

    const stgm::Memory &memory() const { return *memory_; }
    /// Returns true if each task has a CPU of its own, and other processes have another CPU.
    bool has_own_cpus() const { return own_cpus_; }
    /// Returns how the task's process ended, or nothing if it ended as it should.
    std::string end_of(std::size_t task) const;

  private:
    struct Process {
        pid_t pid = 0;
        std::optional<int> status; ///< the status of wait(), once the process has ended
    };

    void place(bool handed);
    std::array<stgm::TicketLock *, 4> ticket_locks() {
        return {&memory_->copies, &memory_->kernels, &memory_->cores, &memory_->preparing};
    }
    [[noreturn]] void become(const std::vector<std::string> &words, std::size_t task, pid_t parent);
    Outcome<void> await(stgm::Phase phase);
    bool watch();
    void kill_all();

    const stgm::TaskSet &set_;
    std::vector<Process> tasks_;
    sigset_t signals_, before_{};
    std::vector<int> cpus_;   ///< the CPUs that nvstgm may use
    std::vector<int> cpu_of_; ///< the CPU of each task
    bool own_cpus_ = false;
    cpu_set_t others_{}; ///< the CPUs that no task is pinned to
    int file_ = -1;
    stgm::Memory *memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Returns 0 if this process may have SCHED_FIFO, or errno.
int try_fifo();

/// Returns the events of all tasks by time, in ns.
stgm::Trace trace_of(const stgm::Memory &memory);

/// Is the process of a task with built-in work: `nvstgm __task NAME`, with the environment that a
/// user's program gets. Returns the exit status.
int be_task(const std::vector<std::string> &words);

} // namespace nvstgm
