// SPDX-License-Identifier: MIT OR GPL-2.0
#include "simulator.hpp"

#include <algorithm>
#include <deque>

namespace stgm {
namespace {

constexpr std::size_t nobody = ~std::size_t{0};

/// The place of a task's job in its segments.
enum class Stage {
    none,      ///< no job
    cpu,       ///< the job computes, or is ready to
    begin_gpu, ///< the job is ready to begin a GPU segment, at its base priority
    want_cpu,  ///< the job is boosted and needs the CPU to copy
    want_copy, ///< the job is boosted and has asked for the copy engine
    copy,
    kernel, ///< the kernel is launched
};

struct State {
    Stage stage = Stage::none;
    std::size_t job = nobody; ///< index in the plan
    std::size_t number = 0;   ///< index among the task's jobs
    std::size_t segment = 0, part = 0;
    bool back = false;               ///< the kernel is complete; the next copy is from the device
    Time left = 0;                   ///< the rest of a CPU segment
    std::deque<std::size_t> pending; ///< jobs that were released before the previous job ended
};

struct Core {
    std::size_t running = nobody;
    std::size_t holder = nobody; ///< a boosted task that must not be preempted
    Time since = 0;              ///< when the running task got the core
    std::deque<std::size_t> boosted;
    std::vector<std::size_t> tasks; ///< by priority
};

struct Kernel {
    std::size_t task;
    bool running;
    Time end;
};

class Machine {
  public:
    Machine(const TaskSet &set, const Waiting &waiting, const Plan &plan, Trace *trace, Fault fault)
        : set_(set), waiting_(waiting), plan_(plan), trace_(trace), fault_(fault),
          tasks_(set.tasks.size()), cores_(set.cores), place_(set.tasks.size()),
          responses_(plan.jobs.size()) {
        for (std::size_t at = 0; at < plan.order.size(); at++)
            place_[plan.order[at]] = at;
        const std::vector<std::size_t> rank = ranks(set);
        for (std::size_t task = 0; task < tasks_.size(); task++)
            cores_[*set.tasks[task].core].tasks.push_back(task);
        for (Core &core : cores_)
            std::ranges::sort(core.tasks, {}, [&](std::size_t task) { return rank[task]; });
    }

    std::vector<Time> run() {
        std::vector<std::size_t> complete;
        for (std::size_t next = 0;;) {
            const Time soonest = std::min(
                next_completion(), next < plan_.jobs.size() ? plan_.jobs[next].release : endless);
            if (soonest == endless)
                return responses_;
            now_ = soonest;
            // Work that is complete at this time is complete before a release at this time.
            complete.clear();
            for (Core &core : cores_)
                if (core.running != nobody && core.holder == nobody && computed(core) == 0)
                    complete.push_back(core.running);
            if (copying_ != nobody && copy_end_ == now_)
                complete.push_back(copying_);
            for (const Kernel &kernel : kernels_)
                if (kernel.running && kernel.end == now_)
                    complete.push_back(kernel.task);
            std::ranges::sort(complete, {}, [&](std::size_t task) { return place_[task]; });
            for (const std::size_t task : complete) {
                completed(task);
                settle();
            }
            if (!complete.empty())
                continue; // work of length 0 that began now is complete, too
            for (; next < plan_.jobs.size() && plan_.jobs[next].release == now_; next++) {
                release(next);
                settle();
            }
        }
    }

  private:
    State &state(std::size_t task) { return tasks_[task]; }
    Core &core_of(std::size_t task) { return cores_[*set_.tasks[task].core]; }
    const Segment &segment(std::size_t task) {
        return set_.tasks[task].segments[state(task).segment];
    }
    Time part(std::size_t task, std::size_t n) {
        return plan_.jobs[state(task).job].parts[state(task).part + n];
    }

    void note(What what, std::size_t task) {
        if (trace_)
            trace_->push_back({now_, what, task, state(task).number, state(task).segment});
    }

    /// Returns the rest of the running task's CPU segment.
    Time computed(const Core &core) const {
        return tasks_[core.running].left - (now_ - core.since);
    }

    Time next_completion() const {
        Time soonest = copying_ == nobody ? endless : copy_end_;
        for (const Core &core : cores_)
            if (core.running != nobody && core.holder == nobody)
                soonest = std::min(soonest, core.since + tasks_[core.running].left);
        for (const Kernel &kernel : kernels_)
            if (kernel.running)
                soonest = std::min(soonest, kernel.end);
        return soonest;
    }

    // --- the core ---

    void give(Core &core, std::size_t task) {
        if (core.running == task)
            return;
        if (core.running != nobody) {
            if (state(core.running).stage == Stage::cpu)
                state(core.running).left -= now_ - core.since;
            note(What::stop, core.running);
        }
        core.running = task;
        core.since = now_;
        if (task != nobody)
            note(What::run, task);
    }

    void hold(std::size_t task) {
        core_of(task).holder = task;
        give(core_of(task), task);
    }

    void let_go(std::size_t task) {
        Core &core = core_of(task);
        if (core.holder != task)
            return;
        core.holder = nobody;
        give(core, nobody);
    }

    /// Dispatches on each core with a task that has changed.
    void settle() {
        while (!touched_.empty()) {
            Core &core = core_of(touched_.back());
            touched_.pop_back();
            dispatch(core);
        }
    }

    void dispatch(Core &core) {
        while (core.holder == nobody) {
            if (!core.boosted.empty()) {
                const bool last = fault_ == Fault::boost_order;
                const std::size_t task = last ? core.boosted.back() : core.boosted.front();
                last ? core.boosted.pop_back() : core.boosted.pop_front();
                ask_copy(task);
                continue;
            }
            const auto ready = std::ranges::find_if(core.tasks, [&](std::size_t task) {
                const Stage stage = state(task).stage;
                return stage == Stage::cpu || stage == Stage::begin_gpu ||
                       (stage == Stage::want_cpu && fault_ == Fault::no_boost);
            });
            if (ready == core.tasks.end())
                return give(core, nobody);
            if (state(*ready).stage == Stage::cpu)
                return give(core, *ready);
            give(core, *ready);
            if (state(*ready).stage == Stage::want_cpu)
                ask_copy(*ready);
            else
                begin(*ready);
        }
    }

    // --- segments ---

    /// Goes on to the next segment that takes time, or to the end of the job.
    void advance(std::size_t task) {
        State &mine = state(task);
        const std::vector<Segment> &segments = set_.tasks[task].segments;
        for (; mine.segment < segments.size(); next_segment(task)) {
            if (segments[mine.segment].gpu) {
                mine.stage = Stage::begin_gpu;
                return;
            }
            mine.left = part(task, 0);
            mine.stage = Stage::cpu;
            if (mine.left > 0)
                return;
        }
        mine.segment--;
        responses_[mine.job] = now_ - plan_.jobs[mine.job].release;
        note(What::finish, task);
        mine.stage = Stage::none;
        mine.number++;
        if (mine.pending.empty())
            return;
        const std::size_t job = mine.pending.front();
        mine.pending.pop_front();
        start(task, job);
    }

    void next_segment(std::size_t task) {
        state(task).part += segment(task).gpu ? 3 : 1;
        state(task).segment++;
    }

    void start(std::size_t task, std::size_t job) {
        State &mine = state(task);
        mine.job = job;
        mine.segment = mine.part = 0;
        touched_.push_back(task);
        advance(task);
    }

    void release(std::size_t job) {
        const std::size_t task = plan_.jobs[job].task;
        State &mine = state(task);
        if (trace_)
            trace_->push_back({now_, What::release, task,
                               mine.number + mine.pending.size() + (mine.stage != Stage::none), 0});
        if (mine.stage != Stage::none)
            mine.pending.push_back(job);
        else
            start(task, job);
    }

    void begin(std::size_t task) {
        State &mine = state(task);
        mine.back = false;
        note(What::segment_begin, task);
        if (waiting_.busy)
            hold(task);
        if (part(task, 0) > 0)
            waiting_.busy ? ask_copy(task) : want_cpu(task);
        else
            launch(task);
    }

    void end_segment(std::size_t task) {
        let_go(task);
        note(What::segment_end, task);
        touched_.push_back(task);
        next_segment(task);
        advance(task);
    }

    void completed(std::size_t task) {
        State &mine = state(task);
        Core &core = core_of(task);
        switch (mine.stage) {
        case Stage::cpu: {
            if (core.running == task)
                give(core, nobody);
            next_segment(task);
            const std::size_t job = mine.job;
            advance(task);
            // The job has the CPU, so it begins its GPU segment before a release at this time.
            if (mine.stage == Stage::begin_gpu && mine.job == job)
                begin(task);
            break;
        }
        case Stage::copy:
            copying_ = nobody;
            note(What::copy_end, task);
            if (!waiting_.busy)
                let_go(task);
            if (mine.back)
                end_segment(task);
            else
                launch(task);
            grant_copy();
            break;
        case Stage::kernel:
            std::erase_if(kernels_, [&](const Kernel &kernel) { return kernel.task == task; });
            after_kernel(task);
            start_kernels();
            if (fault_ == Fault::idle_copies)
                grant_copy();
            break;
        default:
            break;
        }
        touched_.push_back(task);
    }

    // --- copies ---

    void want_cpu(std::size_t task) {
        state(task).stage = Stage::want_cpu;
        touched_.push_back(task);
        if (fault_ != Fault::no_boost)
            core_of(task).boosted.push_back(task);
    }

    /// Asks for the copy engine, for a task that has the CPU at this time.
    void ask_copy(std::size_t task) {
        state(task).stage = Stage::want_copy;
        note(What::copy_ask, task);
        queue_.push_back(task);
        if (waiting_.busy || waiting_.spin_copies)
            hold(task);
        if (fault_ != Fault::idle_copies || kernels_.empty())
            grant_copy();
    }

    void grant_copy() {
        if (copying_ != nobody || queue_.empty())
            return;
        const bool last = fault_ == Fault::copy_order;
        const std::size_t task = last ? queue_.back() : queue_.front();
        last ? queue_.pop_back() : queue_.pop_front();
        copying_ = task;
        copy_end_ = now_ + part(task, state(task).back ? 2 : 0);
        state(task).stage = Stage::copy;
        hold(task);
        note(What::copy_begin, task);
    }

    // --- kernels ---

    bool share(std::size_t a, std::size_t b) const {
        const auto &one = *set_.tasks[a].sms, &other = *set_.tasks[b].sms;
        return std::ranges::find_first_of(one, other) != one.end();
    }

    void launch(std::size_t task) {
        state(task).stage = Stage::kernel;
        note(What::launch, task);
        kernels_.push_back({task, false, 0});
        if (!waiting_.busy)
            give_up(task);
        start_kernels();
    }

    /// Takes the CPU from a task that needed it for the launch.
    void give_up(std::size_t task) {
        let_go(task);
        if (core_of(task).running == task)
            give(core_of(task), nobody);
    }

    void start_kernels() {
        for (std::size_t n = 0; n < kernels_.size(); n++) {
            const std::size_t task = kernels_[n].task;
            if (kernels_[n].running || !may_start(n))
                continue;
            kernels_[n].running = true;
            kernels_[n].end = now_ + part(task, 1);
            note(What::kernel_begin, task);
            if (kernels_[n].end > now_)
                continue;
            kernels_.erase(kernels_.begin() + static_cast<std::ptrdiff_t>(n));
            after_kernel(task);
            n = ~std::size_t{0}; // the next kernel is the first again
        }
    }

    bool may_start(std::size_t n) const {
        for (std::size_t other = 0; other < kernels_.size(); other++)
            if (other != n && (other < n || kernels_[other].running) &&
                (fault_ != Fault::kernel_order || kernels_[other].running) &&
                share(kernels_[other].task, kernels_[n].task))
                return false;
        return true;
    }

    void after_kernel(std::size_t task) {
        note(What::kernel_end, task);
        state(task).back = true;
        if (part(task, 2) == 0)
            end_segment(task);
        else if (waiting_.busy)
            ask_copy(task);
        else
            want_cpu(task);
    }

    const TaskSet &set_;
    const Waiting waiting_;
    const Plan &plan_;
    Trace *const trace_;
    const Fault fault_;
    std::vector<State> tasks_;
    std::vector<Core> cores_;
    std::vector<std::size_t> place_;
    std::vector<Time> responses_;
    Time now_ = 0;
    std::size_t copying_ = nobody;
    Time copy_end_ = 0;
    std::deque<std::size_t> queue_;
    std::vector<Kernel> kernels_;      ///< in the order of launches
    std::vector<std::size_t> touched_; ///< tasks that have changed, for settle()
};

} // namespace

std::vector<Time> worst_parts(const Task &task, std::size_t all_sms) {
    std::vector<Time> parts;
    for (const Segment &segment : task.segments)
        if (segment.gpu)
            parts.insert(parts.end(), {segment.to_device,
                                       segment.kernel_on(task.sms ? task.sms->size() : all_sms),
                                       segment.from_device});
        else
            parts.push_back(segment.cpu);
    return parts;
}

std::vector<Time> simulate(const TaskSet &set, const Waiting &waiting, const Plan &plan,
                           Trace *trace, Fault fault) {
    return Machine(set, waiting, plan, trace, fault).run();
}

} // namespace stgm
