// SPDX-License-Identifier: MIT OR GPL-2.0
#include "running.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forms.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/stgm/levels.hpp"
#include "lib/stgm/participant.hpp"
#include "nvdebug/stgm_task.h"

namespace nvstgm {
namespace {

using stgm::Phase;
using stgm::Time;

constexpr Time start_patience = 180 * ns_per_s, end_patience = 5 * ns_per_s,
               before_begin = ns_per_s / 10;
constexpr std::uint64_t most_events = 1 << 18;
constexpr int watching_level = 98;

bool share_sms(const stgm::Task &one, const stgm::Task &other) {
    return one.sms && other.sms && std::ranges::any_of(*one.sms, [&](std::uint32_t sm) {
               return std::ranges::count(*other.sms, sm);
           });
}

Outcome<std::string> own_path() {
    std::array<char, 4096> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? Outcome<std::string>(path.data()) : fail("/proc/self/exe cannot be read");
}

stgm::Lengths lengths_of(const stgm::Task &task, const stgm::Segment &segment) {
    if (!segment.gpu)
        return {.cpu = segment.cpu * ns_per_us};
    return {.to_device = segment.to_device * ns_per_us,
            .kernel = segment.kernel_on(task.sms->size()) * ns_per_us,
            .from_device = segment.from_device * ns_per_us};
}

stgm::Lengths shortened(stgm::Lengths lengths, const stgm::Ways &ways) {
    for (Time *const each :
         {&lengths.cpu, &lengths.to_device, &lengths.kernel, &lengths.from_device})
        *each = *each * ways.stretch / 100 * (100 - ways.margin) / 100;
    return lengths;
}

/// Returns the number of events for which each task has room: as many as the busiest task records.
std::uint64_t events_of(const stgm::TaskSet &set, Time duration) {
    // These numbers include the events of overruns and of cores that are handed on.
    constexpr std::uint64_t of_job = 4, of_cpu = 6, of_gpu = 16, at_least = 1 << 16;
    std::uint64_t events = at_least;
    for (const stgm::Task &task : set.tasks) {
        std::uint64_t each = of_job;
        for (const stgm::Segment &segment : task.segments)
            each += segment.gpu ? of_gpu : of_cpu;
        events = std::max(
            events, each * (static_cast<std::uint64_t>(duration / (task.period * ns_per_us)) + 1));
    }
    return std::min(events, most_events);
}

} // namespace

int try_fifo() {
    const sched_param lowest{.sched_priority = 1}, ordinary{};
    const int before = sched_getscheduler(0);
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) < 0)
        return errno;
    sched_setscheduler(0, before < 0 ? SCHED_OTHER : before & ~SCHED_RESET_ON_FORK, &ordinary);
    return 0;
}

Running::Running(const stgm::TaskSet &set)
    : set_(set), tasks_(set.tasks.size()), signals_(nvdebug::base::ending_signals()) {
    sigaddset(&signals_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
    CPU_ZERO(&others_);
    sched_getaffinity(0, sizeof others_, &others_);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &others_))
            cpus_.push_back(static_cast<int>(cpu));
}

Running::~Running() {
    kill_all();
    if (memory_)
        munmap(memory_, bytes_);
    if (file_ >= 0)
        close(file_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

/// Chooses a CPU for each task. Tasks that hand their cores to each other need not share a CPU, so
/// each gets one of its own if there are enough.
void Running::place(bool handed) {
    own_cpus_ = handed && tasks_.size() < cpus_.size();
    for (std::size_t n = 0; n < tasks_.size(); n++) {
        cpu_of_.push_back(cpus_[own_cpus_ ? n : *set_.tasks[n].core]);
        CPU_CLR(static_cast<std::size_t>(cpu_of_.back()), &others_);
    }
}

Outcome<void> Running::share(const Order &order) {
    place(order.ways.handed);
    std::uint64_t steps = 0;
    for (const stgm::Task &task : set_.tasks)
        steps += task.segments.size();
    const std::uint64_t events = events_of(set_, order.duration);
    bytes_ = stgm::Memory::bytes(tasks_.size(), steps, events);
    file_ = memfd_create("nvstgm", MFD_CLOEXEC);
    void *const at = file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes_)) == 0
                         ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                         : MAP_FAILED;
    if (at == MAP_FAILED)
        return fail(std::string("no memory to share with the tasks: ") + std::strerror(errno));
    memory_ = static_cast<stgm::Memory *>(at);
    memory_->layout = stgm::Memory::this_layout;
    memory_->size = bytes_;
    memory_->ways = order.ways;
    memory_->duration = order.duration;
    memory_->tasks = tasks_.size();
    memory_->all_steps = steps;
    memory_->events_each = events;
    for (stgm::TicketLock *const each : ticket_locks())
        each->init();
    const auto levels = stgm::levels_of(set_);
    std::uint32_t first = 0;
    for (std::size_t n = 0; n < tasks_.size(); n++) {
        const stgm::Task &task = set_.tasks[n];
        memory_->plans[n] = {.period = task.period * ns_per_us,
                             .deadline = task.deadline * ns_per_us,
                             .offset = order.offsets[n],
                             .base_level = levels[n].base,
                             .boosted_level = levels[n].boosted,
                             .launching_level = levels[n].launching,
                             .cpu = cpu_of_[n],
                             .own_cpu = own_cpus_,
                             .tpcs =
                                 task.uses_gpu() ? static_cast<std::uint32_t>(task.sms->size()) : 0,
                             .steps = static_cast<std::uint32_t>(task.segments.size()),
                             .first_step = first};
        first += memory_->plans[n].steps;
        for (std::size_t segment = 0; segment < task.segments.size(); segment++)
            memory_->steps(n)[segment] = {
                .gpu = task.segments[segment].gpu,
                .may = lengths_of(task, task.segments[segment]),
                .work =
                    shortened(lengths_of(task, order.work.tasks[n].segments[segment]), order.ways),
                .seen = {}};
        for (std::size_t other = 0; other < n; other++) {
            if (!share_sms(task, set_.tasks[other]))
                memory_->kernels.let_together(n, other);
            if (*task.core != *set_.tasks[other].core)
                memory_->cores.let_together(n, other);
        }
    }
    return {};
}

Outcome<void> Running::start(const Keeper &keeper, std::size_t all_tpcs,
                             const std::vector<std::string> &programs) {
    const auto self = own_path();
    if (!self)
        return fail(self.error());
    for (std::size_t n = 0; n < tasks_.size(); n++) {
        const stgm::Task &task = set_.tasks[n];
        std::vector<std::string> words{*self, "__task", task.name};
        if (!programs[n].empty())
            words = {"/bin/sh", "-c", "exec " + programs[n]};
        if (memory_->ways.gpu && task.uses_gpu())
            words = keeper.words(memory_->ways.managed ? list_of(*task.sms)
                                                       : fmt::format("0-{}", all_tpcs - 1),
                                 words);
        const pid_t parent = getpid(), pid = fork();
        if (pid < 0)
            return fail(std::string("no process for a task: ") + std::strerror(errno));
        if (!pid)
            become(words, n, parent);
        tasks_[n].pid = pid;
    }
    return {};
}

Outcome<void> Running::begin() {
    if (const auto opened = await(Phase::opened); !opened)
        return opened;
    memory_->opened = true;
    if (const auto ready = await(Phase::ready); !ready)
        return ready;
    // This process frees the locks of tasks that were killed, so it must run before the tasks.
    const sched_param level{.sched_priority = watching_level};
    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &level);
    memory_->begin = stgm::now_ns() + before_begin;
    return {};
}

bool Running::finish() {
    Time longest = 0;
    for (const stgm::Task &task : set_.tasks)
        longest = std::max(longest, task.period * ns_per_us);
    const Time last = memory_->begin + memory_->duration + 2 * longest + end_patience;
    while (std::ranges::any_of(tasks_, [](const Process &task) { return !task.status; })) {
        if (watch()) {
            if (memory_->stop)
                kill_all();
            memory_->stop = true;
        }
        if (stgm::now_ns() > last)
            kill_all();
    }
    const sched_param ordinary{};
    sched_setscheduler(0, SCHED_OTHER, &ordinary);
    return !memory_->stop;
}

std::string Running::end_of(std::size_t task) const {
    const int status = *tasks_[task].status;
    return WIFSIGNALED(status)   ? "signal " + std::to_string(WTERMSIG(status))
           : WEXITSTATUS(status) ? "status " + std::to_string(WEXITSTATUS(status))
           : memory_->progress[task].phase.load() != Phase::ended ? "before its time"
                                                                  : "";
}

void Running::become(const std::vector<std::string> &words, std::size_t task, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(failed);
    std::signal(SIGINT, SIG_IGN); // the terminal's signal is for the parent, which stops the tasks
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    fcntl(file_, F_SETFD, 0);
    setenv(NVSTGM_TASK_VARIABLE, fmt::format("{} {}", file_, task).c_str(), 1);
    // All threads of the process, as CUDA's, are kept off the CPUs of the set if there are other
    // CPUs. The task's own thread is pinned later.
    if (CPU_COUNT(&others_))
        sched_setaffinity(0, sizeof others_, &others_);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::vector<char *> arguments;
    for (const std::string &word : words)
        arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    say(words[0] + " cannot be run: " + std::strerror(errno));
    _exit(failed);
}

Outcome<void> Running::await(Phase phase) {
    const Time last = stgm::now_ns() + start_patience;
    for (;;) {
        std::size_t there = 0;
        for (std::size_t n = 0; n < tasks_.size(); n++) {
            if (tasks_[n].status)
                return fail("task '" + set_.tasks[n].name +
                            "' ended before the set began: " + end_of(n));
            there += memory_->progress[n].phase.load() >= phase;
        }
        if (there == tasks_.size())
            return {};
        if (watch())
            return fail("it was stopped before the set began");
        if (stgm::now_ns() > last)
            return fail("the tasks are not ready after " +
                        std::to_string(start_patience / ns_per_s) + " s");
    }
}

/// Waits a little, and notices tasks that have ended. Returns true if a signal asks to stop.
bool Running::watch() {
    constexpr timespec a_little{0, 5'000'000};
    const int signal = sigtimedwait(&signals_, nullptr, &a_little);
    for (std::size_t n = 0; n < tasks_.size(); n++) {
        int status = 0;
        if (!tasks_[n].pid || tasks_[n].status ||
            waitpid(tasks_[n].pid, &status, WNOHANG) != tasks_[n].pid)
            continue;
        tasks_[n].status = status;
        for (stgm::TicketLock *const each : ticket_locks())
            each->leave_for_ended(n);
    }
    return signal > 0 && signal != SIGCHLD;
}

void Running::kill_all() {
    for (Process &task : tasks_) {
        if (!task.pid || task.status)
            continue;
        int status = 0;
        kill(task.pid, SIGKILL);
        waitpid(task.pid, &status, 0);
        task.status = status;
    }
}

stgm::Trace trace_of(const stgm::Memory &memory) {
    stgm::Trace all;
    for (std::size_t task = 0; task < memory.tasks; task++) {
        const stgm::Event *const events = memory.events(task);
        for (std::uint64_t n = 0; n < memory.progress[task].events; n++)
            all.push_back({events[n].at, events[n].what, task, events[n].job, events[n].segment});
    }
    std::ranges::stable_sort(all, {}, &stgm::Record::at);
    return all;
}

} // namespace nvstgm
