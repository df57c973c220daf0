// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The processes of a set that runs, from their start to their end.
#pragma once

#include <csignal>
#include <sched.h>
#include <sys/types.h>

#include "keeper.hpp"
#include "lib/stgm/memory.hpp"
#include "lib/stgm/trace.hpp"

namespace nvstgm {

inline constexpr stgm::Time ns_per_us = 1000, ns_per_s = 1'000'000'000;

/// What `run` was asked for.
struct Order {
    stgm::Ways ways{};
    stgm::Time duration = 0;         ///< ns
    std::vector<stgm::Time> offsets; ///< ns
    /// The set whose lengths the work is made for: the same tasks, perhaps with other lengths.
    stgm::TaskSet work;
    std::vector<std::string> programs; ///< of each task, for sh; empty: the work is built in
};

/// None of the processes outlives it.
class Running {
  public:
    explicit Running(const stgm::TaskSet &set);
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    ~Running();

    Outcome<void> share(const Order &order);
    /// Each in a process of its own; its kernels on its TPCs, or where nothing is managed on all.
    Outcome<void> start(const Keeper &keeper, std::size_t all_tpcs,
                        const std::vector<std::string> &programs);
    /// Until all are ready, and work.
    Outcome<void> begin();
    /// @return false: it was stopped before its time
    bool finish();

    const stgm::Memory &memory() const { return *memory_; }
    /// A CPU for each task, and more for others.
    bool has_own_cpus() const { return own_cpus_; }
    /// How its process ended; empty: as it should.
    std::string end_of(std::size_t task) const;

  private:
    struct Process {
        pid_t pid = 0;
        std::optional<int> status; ///< as wait() has it
    };

    void place(bool handed);
    std::array<stgm::Turnstile *, 4> turnstiles() {
        return {&memory_->copies, &memory_->kernels, &memory_->cores, &memory_->preparing};
    }
    [[noreturn]] void become(const std::vector<std::string> &words, std::size_t task, pid_t parent);
    Outcome<void> await(stgm::Phase phase);
    bool watch();
    void kill_all();

    const stgm::TaskSet &set_;
    std::vector<Process> tasks_;
    sigset_t signals_, before_{};
    std::vector<int> cpus_;   ///< that nvstgm may use
    std::vector<int> cpu_of_; ///< by task
    bool own_cpus_ = false;
    cpu_set_t others_{}; ///< of no task
    int file_ = -1;
    stgm::Memory *memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// SCHED_FIFO is permitted: 0, or errno.
int try_fifo();

/// By time; in ns.
stgm::Trace trace_of(const stgm::Memory &memory);

/// The process of a task whose work is built in: `nvstgm __task NAME`, with the environment of a
/// user's program.
int be_task(const std::vector<std::string> &words);

} // namespace nvstgm
