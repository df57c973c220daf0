// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What `nvstgm run` and the processes of its tasks share: the locks, what each task is to
/// do, what happened.
#pragma once

#include <type_traits>

#include "turnstile.hpp"
#include "what.hpp"

namespace stgm {

/// In ns since the begin.
struct Event {
    Time at;
    Time length; ///< of a stall
    std::uint64_t job;
    std::uint32_t segment;
    What what;
};

enum class Phase : std::uint32_t {
    starting,
    opened, ///< the GPU
    ready,  ///< its work is prepared
    ended,  ///< as it should
};

/// Of a segment, in ns.
struct Lengths {
    Time cpu, to_device, kernel, from_device;
};

/// A segment of a task: written by `run`, but what was seen.
struct Step {
    bool gpu;
    Lengths may;  ///< take, as in the file
    Lengths work; ///< that is made for it
    Lengths seen; ///< the largest, of those that no stall was in; written by the task
};

/// Of one task; in ns.
struct TaskPlan {
    Time period, deadline, offset;
    int base_level, boosted_level, launching_level;
    int cpu;      ///< to which it is pinned
    bool own_cpu; ///< no other task of the set has it
    std::uint32_t tpcs;
    std::uint32_t steps, first_step;
};

/// Of one task: written by its process alone, read by `run` when that has ended.
struct Progress {
    std::atomic<Phase> phase;
    std::uint64_t jobs; ///< that ended
    std::uint64_t
        misses; ///< of them those after their deadline, and those that never came to an end
    std::uint64_t overruns; ///< work that took longer than in the file
    std::uint64_t stalls;   ///< times that the process did not get on
    Time response;          ///< the largest, ns
    std::uint64_t events;   ///< that are there
    std::uint64_t lost;     ///< events for which there was no room
    int refused;            ///< errno of SCHED_FIFO
};

/// How tasks work.
struct Ways {
    bool busy, spin_copies, gpu;
    bool handed;  ///< tasks hand their core to each other; else Linux has their priorities
    bool managed; ///< copies and kernels are behind locks
    /// Percent: the work made for a length is shorter by this, which leaves room for latencies.
    std::uint32_t margin;
    /// Percent of the file's lengths that the work really takes: another number than 100 is for
    /// trying a wrong file.
    std::uint32_t stretch;
};

/// A file in memory: this, the steps of all tasks, the events of each. Zeroed at first.
struct Memory {
    /// Raised with each change of this file: a program may have been built with another version.
    static constexpr std::uint64_t this_layout = 0x6e767374676d0001;

    std::uint64_t layout, size;
    Turnstile copies, kernels, cores, preparing;
    Ways ways;
    std::atomic<Time> begin; ///< by CLOCK_MONOTONIC; 0: not yet
    std::atomic<bool> opened, stop;
    Time duration; ///< ns: no job comes after it
    std::uint64_t tasks, all_steps, events_each;
    TaskPlan plans[Turnstile::slots];
    Progress progress[Turnstile::slots];

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
