// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The protocol for the process of a task in `nvstgm run`. The callers do the work itself. No
/// code that this file needs allocates or throws, so that a C program can be linked with it.
#pragma once

#include "memory.hpp"

namespace stgm {

/// Sleeps until a time by CLOCK_MONOTONIC, or until a signal was handled.
inline void sleep_until(Time ns) {
    const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

/// A task's process in a run. Its functions are called in this order: join(), opened(), pin(),
/// ready(), and for each job next_job() and the functions of its segments. If tasks hand cores to
/// each other, a job has its core from next_job() on, except while it waits.
class Participant {
  public:
    /// A pause between two calls of look() counts as a stall if it is longer than this.
    static constexpr Time least_stall_ns = 200'000;

    /// Maps the memory of the run.
    /// @param place the descriptor and the task's number, which `run` has put into the environment;
    /// null if they are missing there
    /// @return null, or a sentence without a full stop on why there is no such run
    const char *join(const char *place);
    const TaskPlan &plan() const { return memory_->plans[task_]; }
    const Step &step(std::size_t segment) const { return memory_->steps(task_)[segment]; }
    const Ways &ways() const { return memory_->ways; }
    Progress &progress() { return memory_->progress[task_]; }

    /// Waits until all tasks have opened the GPU. @return false: the run was stopped
    bool opened();
    /// Pins this thread to the task's CPU. Returns 0 or errno.
    int pin();
    /// Prepares work without the other tasks: one task at a time is between these two calls.
    void begin_preparing() { memory_->preparing.take(task_, false); }
    void end_preparing() { memory_->preparing.leave(task_); }
    /// Waits until the run begins.
    /// @param looks the caller calls look() while it works, so that stalls can be noticed
    /// @return false: the run was stopped
    bool ready(bool looks);

    /// Ends the previous job, and waits for the release of the next. @return false: there is none
    bool next_job();
    void begin_cpu(std::size_t segment);
    void end_cpu();
    /// Hands the core to a waiting task of a higher level, if tasks hand cores to each other.
    void point() {
        look();
        if (ways().handed && memory_->cores.is_asked_for(task_))
            yield();
    }
    void begin_segment(std::size_t segment);
    void end_segment();
    /// Waits for the copy engine.
    void begin_copy(bool to_device);
    void end_copy();
    /// Waits for earlier kernels that share a TPC.
    void begin_kernel();
    void end_kernel();
    void ended() { progress().phase = Phase::ended; }

    /// Notices stalls. The caller calls it often while it works on its CPU.
    void look() {
        if (!looks_)
            return;
        const Time now = now_ns(), pause = now - last_look_;
        last_look_ = now;
        if (pause > least_stall_ns)
            stall(pause);
    }

  private:
    Time now() const { return now_ns() - memory_->begin; }
    void note(What what, Time at, Time length = 0);
    void at_level(int level);
    void stall(Time length);
    bool took_too_much() const;
    void finish();
    void wait(TicketLock &lock, bool spin);
    void take_core(int level);
    void leave_core();
    void yield();
    Time cpu_time() const;
    void took(Time length, Time may, Time &seen);
    Step &here() { return memory_->steps(task_)[segment_]; }

    Memory *memory_ = nullptr;
    std::size_t task_ = 0;
    bool looks_ = false, stalled_ = false;
    Time last_look_ = 0;

    // State of the job.
    std::uint64_t job_ = 0;
    bool in_job_ = false;
    Time release_ = -1;
    std::size_t segment_ = 0;
    Time cpu_begin_ = 0; ///< cpu_time() when the CPU segment began
    bool in_cpu_ = false;

    // How long the job had its core, or the CPU, and how much of that was for copies and kernels.
    bool has_core_ = false;
    Time core_since_ = 0, held_ = 0, elsewhere_ = 0;
    Time pieces_ = 0; ///< time of the copies and, if tasks are busy, of the kernels

    // State of the copy or kernel.
    bool to_device_ = false;
    Time asked_ = 0, begun_ = 0, core_wait_ = 0, cpu_before_ = 0;
};

} // namespace stgm
