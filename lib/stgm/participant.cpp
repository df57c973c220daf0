// SPDX-License-Identifier: MIT OR GPL-2.0
#include "participant.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stgm {
namespace {

constexpr Time poll_ns = 1'000'000, look_ns = 50'000'000, awake_before_ns = 1'000'000;

/// Returns the CPU time of this thread.
Time thread_ns() {
    timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return Time{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

} // namespace

const char *Participant::join(const char *place) {
    int descriptor = -1;
    std::size_t task = 0;
    struct stat file {};
    if (!place || std::sscanf(place, "%d %zu", &descriptor, &task) != 2 ||
        fstat(descriptor, &file) < 0 || file.st_size < static_cast<off_t>(sizeof(Memory)))
        return "this program is no task of a running 'nvstgm run'";
    const auto size = static_cast<std::size_t>(file.st_size);
    void *const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED)
        return "there is no room for the memory that it shares with 'nvstgm run'";
    memory_ = static_cast<Memory *>(at);
    if (memory_->layout != Memory::this_layout || memory_->size != size || task >= memory_->tasks) {
        munmap(at, size);
        memory_ = nullptr;
        return "'nvstgm run' is of another version than the library that this program was built "
               "with";
    }
    // Processes that the program starts, as CUDA does, must not inherit the descriptor.
    close(descriptor);
    task_ = task;
    return nullptr;
}

bool Participant::opened() {
    progress().phase = Phase::opened;
    while (!memory_->opened && !memory_->stop)
        sleep_until(now_ns() + poll_ns);
    return memory_->opened;
}

int Participant::pin() {
    // Only this thread is pinned. CUDA's threads keep the CPUs with which the process was started.
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(plan().cpu), &one);
    return sched_setaffinity(0, sizeof one, &one) < 0 ? errno : 0;
}

bool Participant::ready(bool looks) {
    at_level(plan().base_level);
    progress().phase = Phase::ready;
    while (!memory_->begin && !memory_->stop)
        sleep_until(now_ns() + poll_ns);
    looks_ = looks && ways().handed && plan().own_cpu;
    last_look_ = now_ns();
    return memory_->begin != 0;
}

void Participant::at_level(int level) {
    const sched_param wanted{.sched_priority = level};
    if (!ways().handed && !progress().refused &&
        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) < 0)
        progress().refused = errno;
}

void Participant::note(What what, Time at, Time length) {
    Progress &mine = progress();
    if (mine.events == memory_->events_each)
        mine.lost++;
    else
        memory_->events(task_)[mine.events++] = {at, length, job_,
                                                 static_cast<std::uint32_t>(segment_), what};
}

void Participant::stall(Time length) {
    stalled_ = true;
    progress().stalls++;
    note(What::stall, now(), length);
}

// --- jobs ---

bool Participant::next_job() {
    const Time period = plan().period;
    if (in_job_) {
        finish();
        job_++;
    }
    release_ = release_ < 0 ? plan().offset : release_ + period;
    if (release_ >= memory_->duration)
        return false;
    const bool early = now() < release_;
    // Polling, unlike waiting for a signal, cannot miss that the run is stopped.
    while (!memory_->stop && now() < release_ - look_ns)
        sleep_until(now_ns() + look_ns / 2);
    if (memory_->stop)
        return false;
    // An overloaded task has releases left when the run is over. They count as misses, instead of
    // running on for long.
    if (now() > memory_->duration + period) {
        progress().misses +=
            static_cast<std::uint64_t>((memory_->duration - release_ + period - 1) / period);
        return false;
    }
    while (now() < release_ - (looks_ ? awake_before_ns : 0))
        sleep_until(memory_->begin + release_ - (looks_ ? awake_before_ns : 0));
    if (looks_) {
        last_look_ = early ? memory_->begin + std::min(now(), release_) : now_ns();
        while (now() < release_)
            look();
        look();
    }
    segment_ = 0;
    in_job_ = true;
    held_ = elsewhere_ = pieces_ = 0;
    note(What::release, release_);
    if (ways().handed)
        take_core(plan().base_level);
    else
        core_since_ = thread_ns();
    return true;
}

/// Returns true if the job had its core for longer than the file allows for its CPU segments and
/// copies (and kernels, if tasks are busy). The protocol's own work counts, too.
bool Participant::took_too_much() const {
    Time may = 0, kernels = 0;
    for (std::size_t n = 0; n < plan().steps; n++) {
        const Lengths &one = step(n).may;
        may += one.cpu + one.to_device + one.from_device;
        kernels += one.kernel;
    }
    // A job that has only kernels may use their time for the protocol's work.
    return cpu_time() + pieces_ > (ways().busy || !may ? may + kernels : may);
}

void Participant::finish() {
    const bool too_much = took_too_much();
    if (ways().handed)
        leave_core();
    const Time end = now(), response = end - release_;
    if (too_much) {
        progress().overruns++;
        note(What::overrun, end);
    }
    note(What::finish, end);
    in_job_ = false;
    Progress &mine = progress();
    mine.jobs++;
    mine.misses += response > plan().deadline;
    mine.response = std::max(mine.response, response);
}

/// Returns the time that the job has had its core until now, without copies and kernels.
Time Participant::cpu_time() const {
    if (!ways().handed)
        return thread_ns() - core_since_ - elsewhere_;
    return held_ + (has_core_ ? now_ns() - core_since_ : 0) - elsewhere_;
}

void Participant::begin_cpu(std::size_t segment) {
    segment_ = segment;
    in_cpu_ = true;
    stalled_ = false;
    cpu_begin_ = cpu_time();
    note(What::run, now());
}

void Participant::end_cpu() {
    note(What::stop, now());
    in_cpu_ = false;
    if (!stalled_)
        here().seen.cpu = std::max(here().seen.cpu, cpu_time() - cpu_begin_);
}

// --- the core ---

void Participant::wait(TicketLock &lock, bool spin) {
    if (!looks_)
        return lock.wait(task_, spin);
    while (!lock.is_in(task_))
        look();
}

void Participant::take_core(int level) {
    memory_->cores.ask(task_, level);
    wait(memory_->cores, false);
    core_since_ = memory_->cores.granted_at(task_);
    has_core_ = true;
}

void Participant::leave_core() {
    held_ += memory_->cores.leave(task_) - core_since_;
    has_core_ = false;
}

void Participant::yield() {
    if (in_cpu_)
        note(What::stop, now());
    leave_core();
    take_core(plan().base_level);
    if (in_cpu_)
        note(What::run, now());
}

// --- GPU segments ---

void Participant::begin_segment(std::size_t segment) {
    segment_ = segment;
    note(What::segment_begin, now());
    if (ways().handed)
        memory_->cores.set_level(task_, plan().boosted_level);
    at_level(plan().boosted_level);
}

void Participant::end_segment() {
    at_level(plan().base_level);
    note(What::segment_end, now());
    if (ways().handed)
        memory_->cores.set_level(task_, plan().base_level);
    point();
}

void Participant::begin_copy(bool to_device) {
    to_device_ = to_device;
    stalled_ = false;
    core_wait_ = 0;
    const bool keeps_core = ways().busy || ways().spin_copies;
    cpu_before_ = ways().handed ? 0 : thread_ns();
    note(What::copy_ask, now());
    asked_ = begun_ = now_ns();
    if (ways().managed) {
        if (ways().handed && !keeps_core)
            leave_core();
        memory_->copies.ask(task_);
        wait(memory_->copies, keeps_core);
        begun_ = memory_->copies.granted_at(task_);
        if (ways().handed && !keeps_core) {
            const Time asked = now_ns();
            take_core(plan().boosted_level);
            core_wait_ = std::max<Time>(core_since_ - asked, 0);
            asked_ = core_since_;
        }
    }
    note(What::copy_begin, now());
}

void Participant::end_copy() {
    note(What::copy_end, now());
    const Time end = ways().managed ? memory_->copies.leave(task_) : now_ns();
    elsewhere_ += ways().handed ? end - asked_ : thread_ns() - cpu_before_;
    pieces_ += end - begun_ - core_wait_;
    took(end - begun_ - core_wait_, to_device_ ? here().may.to_device : here().may.from_device,
         to_device_ ? here().seen.to_device : here().seen.from_device);
}

void Participant::begin_kernel() {
    stalled_ = false;
    core_wait_ = 0;
    cpu_before_ = ways().handed ? 0 : thread_ns();
    if (!ways().busy) {
        at_level(plan().launching_level);
        if (ways().handed)
            leave_core();
    }
    note(What::launch, now());
    asked_ = begun_ = now_ns();
    if (ways().managed) {
        memory_->kernels.ask(task_);
        wait(memory_->kernels, ways().busy);
        begun_ = memory_->kernels.granted_at(task_);
    }
    note(What::kernel_begin, now());
}

void Participant::end_kernel() {
    note(What::kernel_end, now());
    const Time end = ways().managed ? memory_->kernels.leave(task_) : now_ns();
    if (!ways().handed)
        elsewhere_ += thread_ns() - cpu_before_;
    else if (ways().busy)
        elsewhere_ += end - asked_;
    if (ways().busy)
        pieces_ += end - begun_;
    took(end - begun_, here().may.kernel, here().seen.kernel);
    if (ways().busy)
        return;
    if (ways().handed)
        take_core(plan().boosted_level);
    // The task goes behind the tasks that are boosted already.
    at_level(plan().boosted_level);
    if (!ways().handed)
        sched_yield();
}

void Participant::took(Time length, Time may, Time &seen) {
    if (length > may) {
        progress().overruns++;
        note(What::overrun, now());
    }
    if (!stalled_)
        seen = std::max(seen, length);
}

} // namespace stgm
