// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A task's part in a set that runs: the protocol, around work that is done by others. Of
/// what this file needs nothing allocates or throws, so that a C program can be linked with it.
#pragma once

#include "memory.hpp"

namespace stgm {

/// Sleeps; a signal that is handled ends it.
inline void sleep_until(Time ns) {
    const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

/// In its order: join(), opened(), pin(), ready(), and per job next_job() and the segments'
/// functions. Where tasks hand cores to each other, the job has its core from next_job() on, but
/// while it waits.
class Participant {
  public:
    /// Less than this without a look() is no stall.
    static constexpr Time least_stall_ns = 200'000;

    /// @param place what `run` gave the process in its environment: a descriptor and a task's
    /// number; null: nothing.
    /// @return null, or what is wrong: a sentence without an end
    const char *join(const char *place);
    const TaskPlan &plan() const { return memory_->plans[task_]; }
    const Step &step(std::size_t segment) const { return memory_->steps(task_)[segment]; }
    const Ways &ways() const { return memory_->ways; }
    Progress &progress() { return memory_->progress[task_]; }

    /// Waits until all tasks have opened the GPU. @return false: the run was stopped
    bool opened();
    /// Errno, or 0.
    int pin();
    /// One task after the other is between these two.
    void begin_preparing() { memory_->preparing.take(task_, false); }
    void end_preparing() { memory_->preparing.leave(task_); }
    /// @param looks it calls look() while it works, so that a pause is a stall. @return false: the
    /// run was stopped
    bool ready(bool looks);

    /// Ends the job before, and waits for the release of the next. @return false: there is none
    bool next_job();
    void begin_cpu(std::size_t segment);
    void end_cpu();
    /// Where tasks hand cores to each other, one of a higher level gets it here.
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
    /// Waits for the kernels before.
    void begin_kernel();
    void end_kernel();
    void ended() { progress().phase = Phase::ended; }

    /// Now and then while it has something to do on its CPU.
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
    void wait(Turnstile &lock, bool spin);
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

    // Of the job.
    std::uint64_t job_ = 0;
    bool in_job_ = false;
    Time release_ = -1;
    std::size_t segment_ = 0;
    Time cpu_begin_ = 0; ///< cpu_time() at the begin of the CPU segment
    bool in_cpu_ = false;

    // How long it had its core, or the CPU; and how much of that was for copies and kernels.
    bool has_core_ = false;
    Time core_since_ = 0, held_ = 0, elsewhere_ = 0;
    Time pieces_ = 0; ///< the copies and, of tasks that are busy, the kernels

    // Of the copy or kernel.
    bool to_device_ = false;
    Time asked_ = 0, begun_ = 0, core_wait_ = 0, cpu_before_ = 0;
};

} // namespace stgm
