// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.hpp"
#include "device.hpp"
#include "keeper.hpp"
#include "perfetto.hpp"
#include "running.hpp"
#include "lib/stgm/levels.hpp"
#include "tools/nvtaskset/mps.hpp"

namespace nvstgm {
namespace {

using stgm::Time;

constexpr Time ns_per_us = 1000, ns_per_s = 1'000'000'000;
constexpr Time start_patience = 180 * ns_per_s, end_patience = 5 * ns_per_s, before_begin = ns_per_s / 10;
constexpr std::uint64_t most_events = 1 << 18;
constexpr int watching_level = 98;

struct Task {
    pid_t pid = 0;
    std::optional<int> status; ///< as wait() has it
};

/** The tasks' processes, from their start to their end: none outlives it. */
class Running {
  public:
    explicit Running(const stgm::TaskSet &set) : set_(set), tasks_(set.tasks.size()) {
        sigemptyset(&signals_);
        for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
            sigaddset(&signals_, signal);
        sigprocmask(SIG_BLOCK, &signals_, &before_);
        CPU_ZERO(&others_);
        sched_getaffinity(0, sizeof others_, &others_);
        for (std::size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &others_))
                cpus_.push_back(static_cast<int>(cpu));
        for (const stgm::Task &task : set.tasks)
            CPU_CLR(static_cast<std::size_t>(cpus_[*task.core]), &others_);
    }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;

    ~Running() {
        kill_all();
        if (shared_)
            munmap(shared_, bytes_);
        if (file_ >= 0)
            close(file_);
        sigprocmask(SIG_SETMASK, &before_, nullptr);
    }

    Outcome<void> share(const Ways &ways, Time duration, std::span<const Time> offsets) {
        const std::string text = stgm::to_json(set_).dump();
        std::uint64_t events = 0;
        for (const stgm::Task &task : set_.tasks) {
            constexpr std::uint64_t of_job = 2, of_cpu = 2, of_gpu = 11;
            std::uint64_t each = of_job;
            for (const stgm::Segment &segment : task.segments)
                each += segment.gpu ? of_gpu : of_cpu;
            events = std::max(events, each * (static_cast<std::uint64_t>(duration / (task.period * ns_per_us)) + 1));
        }
        events = ways.trace ? std::min(events, most_events) : 0;
        bytes_ = Shared::bytes(tasks_.size(), events, text.size());
        file_ = memfd_create("nvstgm", MFD_CLOEXEC);
        void *const at = file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes_)) == 0
                             ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                             : MAP_FAILED;
        if (at == MAP_FAILED)
            return fail(std::string("no memory to share with the tasks: ") + std::strerror(errno));
        shared_ = static_cast<Shared *>(at);
        shared_->ways = ways;
        shared_->duration = duration;
        shared_->events_each = events;
        shared_->text_bytes = text.size();
        std::memcpy(shared_->text(tasks_.size()), text.data(), text.size());
        for (stgm::Turnstile *const each : turnstiles())
            each->init();
        for (std::size_t task = 0; task < tasks_.size(); task++) {
            shared_->tasks[task].offset = offsets[task];
            shared_->tasks[task].cpu = cpus_[*set_.tasks[task].core];
            for (std::size_t other = 0; other < task; other++)
                if (!share_sms(set_.tasks[task], set_.tasks[other]))
                    shared_->kernels.let_together(task, other);
        }
        return {};
    }

    /** Each in a process of its own; its kernels on its TPCs. */
    Outcome<void> start(const Keeper &keeper) {
        const auto self = own_path();
        if (!self)
            return fail(self.error());
        for (std::size_t n = 0; n < tasks_.size(); n++) {
            const stgm::Task &task = set_.tasks[n];
            std::vector<std::string> words{*self, "__task", std::to_string(file_), std::to_string(n),
                                           std::to_string(tasks_.size())};
            if (shared_->ways.gpu && task.uses_gpu())
                words = keeper.words(list_of(*task.sms), words);
            const pid_t parent = getpid(), pid = fork();
            if (pid < 0)
                return fail(std::string("no process for a task: ") + std::strerror(errno));
            if (!pid)
                become(words, parent);
            tasks_[n].pid = pid;
        }
        return {};
    }

    /** Until all are ready, and work. */
    Outcome<void> begin() {
        if (const auto opened = await(Phase::opened); !opened)
            return opened;
        shared_->opened = true;
        if (const auto ready = await(Phase::ready); !ready)
            return ready;
        // Who lets go for a task that was killed is not behind the others.
        const sched_param level{.sched_priority = watching_level};
        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &level);
        shared_->begin = now_ns() + before_begin;
        return {};
    }

    /** @return false: it was stopped before its time */
    bool finish() {
        Time longest = 0;
        for (const stgm::Task &task : set_.tasks)
            longest = std::max(longest, task.period * ns_per_us);
        const Time last = shared_->begin + shared_->duration + 2 * longest + end_patience;
        while (std::ranges::any_of(tasks_, [](const Task &task) { return !task.status; })) {
            if (watch()) {
                if (shared_->stop)
                    kill_all();
                shared_->stop = true;
            }
            if (now_ns() > last)
                kill_all();
        }
        const sched_param ordinary{};
        sched_setscheduler(0, SCHED_OTHER, &ordinary);
        return !shared_->stop;
    }

    const Shared &shared() const { return *shared_; }
    /** How its process ended; empty: as it should. */
    std::string end_of(std::size_t task) const {
        const int status = *tasks_[task].status;
        return WIFSIGNALED(status)                                  ? "signal " + std::to_string(WTERMSIG(status))
               : WEXITSTATUS(status)                                ? "status " + std::to_string(WEXITSTATUS(status))
               : shared_->tasks[task].phase.load() != Phase::ended ? "before its time"
                                                                    : "";
    }

    /** By time; in ns. */
    stgm::Trace trace() const {
        stgm::Trace all;
        for (std::size_t task = 0; task < tasks_.size(); task++) {
            const Event *const events = shared_->events(task);
            for (std::uint64_t n = 0; n < shared_->tasks[task].events; n++)
                all.push_back({events[n].at, events[n].what, task, events[n].job, events[n].segment});
        }
        std::ranges::stable_sort(all, {}, &stgm::Record::at);
        return all;
    }

  private:
    static bool share_sms(const stgm::Task &one, const stgm::Task &other) {
        return one.sms && other.sms &&
               std::ranges::any_of(*one.sms, [&](std::uint32_t sm) { return std::ranges::count(*other.sms, sm); });
    }

    static Outcome<std::string> own_path() {
        std::array<char, 4096> path{};
        const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
        return length > 0 ? Outcome<std::string>(path.data()) : fail("/proc/self/exe cannot be read");
    }

    std::array<stgm::Turnstile *, 3> turnstiles() { return {&shared_->copies, &shared_->kernels, &shared_->preparing}; }

    [[noreturn]] void become(const std::vector<std::string> &words, pid_t parent) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(failed);
        std::signal(SIGINT, SIG_IGN); // of the terminal: they end with their parent's word
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        fcntl(file_, F_SETFD, 0);
        // What else there is, CUDA's threads and MPS's, is kept off the cores of the set, if there are others.
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

    Outcome<void> await(Phase phase) {
        const Time last = now_ns() + start_patience;
        for (;;) {
            std::size_t there = 0;
            for (std::size_t n = 0; n < tasks_.size(); n++) {
                if (tasks_[n].status)
                    return fail("task '" + set_.tasks[n].name + "' ended before the set began: " + end_of(n));
                there += shared_->tasks[n].phase.load() >= phase;
            }
            if (there == tasks_.size())
                return {};
            if (watch())
                return fail("it was stopped before the set began");
            if (now_ns() > last)
                return fail("the tasks are not ready after " + std::to_string(start_patience / ns_per_s) + " s");
        }
    }

    /** Waits a little. @return it is to stop */
    bool watch() {
        constexpr timespec a_little{0, 5'000'000};
        const int signal = sigtimedwait(&signals_, nullptr, &a_little);
        for (std::size_t n = 0; n < tasks_.size(); n++) {
            int status = 0;
            if (!tasks_[n].pid || tasks_[n].status || waitpid(tasks_[n].pid, &status, WNOHANG) != tasks_[n].pid)
                continue;
            tasks_[n].status = status;
            for (stgm::Turnstile *const each : turnstiles())
                each->leave_for_ended(n);
        }
        return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    }

    void kill_all() {
        for (Task &task : tasks_) {
            if (!task.pid || task.status)
                continue;
            int status = 0;
            kill(task.pid, SIGKILL);
            waitpid(task.pid, &status, 0);
            task.status = status;
        }
    }

    const stgm::TaskSet &set_;
    std::vector<Task> tasks_;
    sigset_t signals_{}, before_{};
    std::vector<int> cpus_; ///< by core
    cpu_set_t others_{};    ///< of no core of the set
    int file_ = -1;
    Shared *shared_ = nullptr;
    std::size_t bytes_ = 0;
};

Outcome<void> can_run(const stgm::TaskSet &set, bool gpu, bool mps) {
    if (set.time_unit != "us")
        return fail("a set whose times are ticks cannot be run: 'time_unit' is to be us");
    if (set.tasks.size() > std::min(stgm::Turnstile::slots, stgm::most_levels))
        return fail(fmt::format("{} tasks run together at most", stgm::Turnstile::slots));
    if (const auto allocated = need_allocation(set, stgm::Method::stgm); !allocated)
        return allocated;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    std::size_t users = 0;
    for (const stgm::Task &task : set.tasks) {
        if (*task.core >= static_cast<std::uint32_t>(CPU_COUNT(&cpus)))
            return fail(fmt::format("task '{}' is on core {}, and this process may use {} CPUs", task.name, *task.core,
                                    CPU_COUNT(&cpus)));
        users += task.uses_gpu();
    }
    if (gpu && mps && users > nvtaskset::clients_max)
        return fail(fmt::format("{} tasks use the GPU, and an MPS server takes {}: others would take turns with them",
                                users, nvtaskset::clients_max));
    return {};
}

/** The GPU has the TPCs of all tasks. That it is asked once keeps the tasks' nvtaskset from finding them out at once. */
Outcome<void> have_tpcs(const stgm::TaskSet &set, const Keeper &keeper) {
    if (std::ranges::none_of(set.tasks, &stgm::Task::uses_gpu))
        return {};
    const auto tpcs = keeper.tpcs();
    if (!tpcs)
        return fail(tpcs.error());
    for (const stgm::Task &task : set.tasks)
        if (task.uses_gpu() && task.sms->back() >= *tpcs)
            return fail(fmt::format("task '{}' has TPC {}, and this GPU has 0 to {}", task.name, task.sms->back(), *tpcs - 1));
    return {};
}

std::vector<Column> columns() {
    return {{"name", "task", true}, {"jobs", "jobs"}, {"response", "response"}, {"bound", "bound"}, {"ratio", "ratio"},
            {"deadline", "deadline"}, {"misses", "misses"}, {"overruns", "overruns"}, {"ended", "ended", true}};
}

Json row_of(const stgm::Task &task, const Progress &progress, const stgm::Bound &bound, const std::string &end) {
    const Time response = (progress.response + ns_per_us - 1) / ns_per_us;
    const bool comparable = progress.jobs && bound.response && *bound.response;
    return {{"name", task.name},
            {"jobs", progress.jobs},
            {"response", progress.jobs ? Json(response) : Json()},
            {"bound", bound.response ? Json(*bound.response) : Json()},
            {"ratio", comparable ? Json(static_cast<double>(response * 1000 / *bound.response) / 1000) : Json()},
            {"deadline", task.deadline},
            {"misses", progress.misses},
            {"overruns", progress.overruns},
            {"ended", end.empty() ? Json() : Json(end)}};
}

Outcome<Exit> run(const Arguments &arguments) {
    const auto set = read_set(arguments.words[0]);
    if (!set)
        return fail(set.error());
    const auto options = analysis_of(arguments, *set);
    if (!options)
        return fail(options.error());
    const bool gpu = !arguments.has("--without-gpu"), mps = !arguments.has("--no-mps");
    if (const auto can = can_run(*set, gpu, mps); !can)
        return fail(arguments.words[0] + ": " + can.error());
    const auto seconds = arguments.number("--for", 10, 1, 3600);
    const auto margin = arguments.number("--margin", 10, 0, 90);
    const auto stretch = arguments.number("--stretch", 100, 1, 1000);
    for (const auto *const one : {&seconds, &margin, &stretch})
        if (!*one)
            return fail(one->error());
    std::vector<Time> offsets(set->tasks.size());
    if (const auto typed = arguments.options.find("--offset"); typed != arguments.options.end())
        for (const std::string &one : typed->second) {
            const auto offset = offset_of(one, *set);
            if (!offset)
                return fail(offset.error());
            offsets[offset->first] = stgm::multiply(offset->second, ns_per_us);
        }
    const Keeper keeper = Keeper::of(arguments);
    if (gpu)
        if (const auto have = have_tpcs(*set, keeper); !have)
            return fail(arguments.words[0] + ": " + have.error());
    warn_of(*options);
    const std::vector<stgm::Bound> bounds = stgm::analyse(*set, *options);

    Running running(*set);
    const Ways ways{.busy = options->busy,
                    .spin_copies = options->spin_copies,
                    .gpu = gpu,
                    .trace = arguments.has("--output"),
                    .margin = static_cast<std::uint32_t>(*margin),
                    .stretch = static_cast<std::uint32_t>(*stretch)};
    if (const auto shared = running.share(ways, *seconds * ns_per_s, offsets); !shared)
        return fail(shared.error());
    if (const auto started = running.start(keeper); !started)
        return fail(started.error());
    if (const auto began = running.begin(); !began)
        return fail(began.error());
    const bool whole = running.finish();

    Json rows = Json::array();
    std::uint64_t misses = 0, lost = 0, ended = 0, above = 0, overruns = 0;
    int refused = 0;
    for (std::size_t n = 0; n < set->tasks.size(); n++) {
        const Progress &progress = running.shared().tasks[n];
        rows.push_back(row_of(set->tasks[n], progress, bounds[n], running.end_of(n)));
        misses += progress.misses;
        lost += progress.lost;
        overruns += progress.overruns;
        ended += !rows.back()["ended"].is_null();
        above += rows.back()["response"].is_number() && rows.back()["bound"].is_number() &&
                 rows.back()["response"] > rows.back()["bound"];
        refused = refused ? refused : progress.refused;
    }
    if (refused)
        say(fmt::format("SCHED_FIFO is refused ({}; it takes CAP_SYS_NICE or RLIMIT_RTPRIO, and where the kernel has "
                        "CONFIG_RT_GROUP_SCHED a cgroup with real-time share): any process, and tasks of lower "
                        "priority, may keep the tasks from their cores, which no bound counts",
                        std::strerror(refused)));
    if (lost)
        say(fmt::format("{} events were too many for the trace: it ends before the run does", lost));
    if (arguments.has("--output")) {
        const std::string path = arguments.text("--output");
        if (const auto written = write_file(path, is_perfetto(path) ? perfetto(*set, running.trace(), Source::run)
                                                                    : stgm::to_text(running.trace(), *set));
            !written)
            return fail(written.error());
    }
    std::string text;
    if (arguments.has("--json"))
        text = document("run", {{"analysis", name_of(options->method)},
                                {"waiting", ways.busy ? "busy" : "suspend"},
                                {"copy_wait", ways.spin_copies || ways.busy ? "spin" : "suspend"},
                                {"time_unit", set->time_unit},
                                {"seconds", *seconds},
                                {"whole", whole},
                                {"gpu", gpu},
                                {"mps", gpu && mps},
                                {"fifo", !refused},
                                {"margin", *margin},
                                {"stretch", *stretch},
                                {"above", above},
                                {"tasks", rows}});
    else if (arguments.has("--csv"))
        text = csv(columns(), rows);
    else
        text = table(columns(), rows) +
               fmt::format("\n{} deadlines missed; {} of {} tasks above their bounds; {} copies and kernels longer than "
                           "in the file{} (times in us)\n",
                           misses, above, set->tasks.size(), overruns, ended ? "; some tasks ended before their time" : "");
    return write(text).map([&] { return misses || ended ? not_schedulable : done; });
}

} // namespace

Command run_command() {
    return {"run",
            "runs the set: each task a process, with kernels and copies on the GPU",
            {"SET"},
            std::vector<Option>{
                {"--for", "so many seconds (default: 10)", "SECONDS"},
                {"--offset", "when the task's first job comes (default: 0)", "NAME=TIME", "", {}, true},
                {"--margin", "the work is shorter than in the file by so many percent (default: 10)", "PERCENT"},
                {"--stretch", "the work takes so many percent of the file's lengths (default: 100)", "PERCENT"},
                {"--without-gpu", "copies and kernels take their time by the clock, and no GPU is used"},
                {"--output", "what happened: text, or FILE.pftrace for ui.perfetto.dev", "FILE", "-o"}} +
                keeper_options() + analysis_options() + form_options(),
            "Core n is the n-th CPU that nvstgm may use. A task's kernels are kept to its TPCs ('sms') by nvtaskset.\n"
            "Tasks have SCHED_FIFO where that is permitted. Exit status 0: no deadline was missed, 2: one was, or a\n"
            "task ended before its time, 1: an error.",
            {{"nvstgm run placed.json --for 20", "do they meet their deadlines on this GPU?"},
             {"nvstgm run placed.json --without-gpu -o run.pftrace", "the protocol on the CPU alone, as a picture"}},
            run};
}

} // namespace nvstgm
