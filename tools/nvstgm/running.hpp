// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What `run` and the processes of its tasks share. */
#ifndef NVSTGM_RUNNING_HPP
#define NVSTGM_RUNNING_HPP

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "command.hpp"
#include "lib/stgm/trace.hpp"
#include "lib/stgm/turnstile.hpp"

namespace nvstgm {

/** When the Record happened, in ns since the begin. */
struct Event {
    stgm::Time at;
    std::uint64_t job;
    std::uint32_t segment;
    stgm::What what;
};

enum class Phase : std::uint32_t {
    starting,
    opened, ///< the GPU
    ready,  ///< its work is prepared
    ended,  ///< as it should
};

/** Of one task: written by its process alone, read by `run` when that has ended. */
struct Progress {
    std::atomic<Phase> phase;
    std::uint64_t jobs;     ///< that ended
    std::uint64_t misses;   ///< of them those after their deadline, and those that never came to an end
    std::uint64_t overruns; ///< copies and kernels that took longer than in the file
    stgm::Time response;    ///< the largest, ns
    std::uint64_t events;   ///< that are there
    std::uint64_t lost;     ///< events for which there was no room
    stgm::Time offset;      ///< of the first job, ns
    int cpu;                ///< of its core
    int refused;            ///< errno of SCHED_FIFO
};

/** How tasks work. */
struct Ways {
    bool busy, spin_copies, gpu, trace;
    /** Percent: the work made for a length is shorter by this, which leaves room for latencies. */
    std::uint32_t margin;
    /** Percent of the file's lengths that the work really takes: another number than 100 is for trying a wrong file. */
    std::uint32_t stretch;
};

/** A file in memory: this, the events of each task, the set as text. Zeroed at first. */
struct Shared {
    stgm::Turnstile copies, kernels, preparing;
    Ways ways;
    std::atomic<stgm::Time> begin; ///< by CLOCK_MONOTONIC; 0: not yet
    std::atomic<bool> opened, stop;
    stgm::Time duration; ///< ns: no job comes after it
    std::uint64_t events_each, text_bytes;
    Progress tasks[stgm::Turnstile::slots];

    static std::size_t bytes(std::size_t tasks, std::uint64_t events_each, std::size_t text_bytes) {
        return sizeof(Shared) + tasks * events_each * sizeof(Event) + text_bytes;
    }
    Event *events(std::size_t task) { return reinterpret_cast<Event *>(this + 1) + task * events_each; }
    char *text(std::size_t task_count) { return reinterpret_cast<char *>(events(task_count)); }
};
static_assert(alignof(Shared) >= alignof(Event) && std::is_trivially_copyable_v<Event>);

/** The process of a task: `nvstgm __task DESCRIPTOR TASK TASKS`. Its status. */
int be_task(const std::vector<std::string> &words);

} // namespace nvstgm

#endif
