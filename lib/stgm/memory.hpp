// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The memory that `nvstgm run` shares with the processes of its tasks: the locks, the work
/// of each task, and a record of what happened. Times are in ns, and those of events count from the
/// begin of the run.
#pragma once

#include <type_traits>

#include "ticket_lock.hpp"
#include "what.hpp"

namespace stgm {

/// An event of a task's job.
struct Event {
    Time at;
    Time length; ///< the length of a stall
    std::uint64_t job;
    std::uint32_t segment;
    What what;
};

enum class Phase : std::uint32_t {
    starting,
    opened, ///< the process has opened the GPU
    ready,  ///< its work is prepared
    ended,  ///< it ended as it should
};

/// Lengths of the parts of a segment, in ns.
struct Lengths {
    Time cpu, to_device, kernel, from_device;
};

/// A segment of a task. `run` writes it, but for `seen`.
struct Step {
    bool gpu;
    Lengths may;  ///< the lengths in the file
    Lengths work; ///< the lengths for which the built-in work is made
    Lengths seen; ///< the largest lengths without a stall, which the task writes
};

/// The plan of a task. Times are in ns.
struct TaskPlan {
    Time period, deadline, offset;
    int base_level, boosted_level, launching_level;
    int cpu;      ///< the CPU to which the task is pinned
    bool own_cpu; ///< no other task of the set has this CPU
    std::uint32_t tpcs;
    std::uint32_t steps, first_step;
};

/// The record of a task. Its process alone writes it, and `run` reads it when the process has
/// ended.
struct Progress {
    std::atomic<Phase> phase;
    std::uint64_t jobs;     ///< jobs that ended
    std::uint64_t misses;   ///< jobs that ended after their deadline, or never
    std::uint64_t overruns; ///< pieces of work that took longer than in the file
    std::uint64_t stalls;   ///< pauses of the process, longer than Participant::least_stall_ns
    Time response;          ///< the largest response, ns
    std::uint64_t events;   ///< the number of events that are recorded
    std::uint64_t lost;     ///< the number of events for which there was no room
    int refused;            ///< errno with which SCHED_FIFO was refused, or 0
};

/// The options of a run that its tasks follow.
struct Ways {
    bool busy, spin_copies, gpu;
    bool handed;  ///< tasks hand their core to each other; else Linux schedules by priority
    bool managed; ///< copies and kernels are behind locks
    /// Percent by which work is shorter than its length in the file, to leave room for latencies.
    std::uint32_t margin;
    /// Percent of the file's lengths that the work really takes. Numbers other than 100 are for
    /// trying a file with wrong lengths.
    std::uint32_t stretch;
};

/// The layout of the shared file: this struct, the steps of all tasks, the events of each task.
/// `run` creates it full of zeros.
struct Memory {
    /// Number of this layout, to be raised with each change of this header. A user's program may
    /// have been built with another version.
    static constexpr std::uint64_t this_layout = 0x6e767374676d0001;

    std::uint64_t layout, size;
    TicketLock copies, kernels, cores, preparing;
    Ways ways;
    std::atomic<Time> begin; ///< begin of the run by CLOCK_MONOTONIC; 0: it has not begun
    std::atomic<bool> opened, stop;
    Time duration; ///< ns; no job is released after it
    std::uint64_t tasks, all_steps, events_each;
    TaskPlan plans[TicketLock::slots];
    Progress progress[TicketLock::slots];

    static std::size_t bytes(std::size_t tasks, std::uint64_t steps, std::uint64_t events_each) {
        return sizeof(Memory) + steps * sizeof(Step) + tasks * events_each * sizeof(Event);
    }
    Step *steps(std::size_t task) {
        return reinterpret_cast<Step *>(this + 1) + plans[task].first_step;
    }
    const Step *steps(std::size_t task) const { return const_cast<Memory *>(this)->steps(task); }
    Event *events(std::size_t task) {
        return reinterpret_cast<Event *>(reinterpret_cast<Step *>(this + 1) + all_steps) +
               task * events_each;
    }
    const Event *events(std::size_t task) const { return const_cast<Memory *>(this)->events(task); }
};
static_assert(alignof(Memory) >= alignof(Event) && alignof(Memory) >= alignof(Step) &&
              std::is_trivially_copyable_v<Event>);

} // namespace stgm
