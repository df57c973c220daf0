// SPDX-License-Identifier: MIT OR GPL-2.0
// Checks the rules of the protocol one by one. The checker replays the records of a schedule and
// counts, and makes no decision that the simulator makes.
#include <algorithm>
#include <map>
#include <optional>

#include "trace.hpp"

namespace stgm {
namespace {

/// The state of a task's job by the records so far.
struct Watched {
    bool live = false, boosted = false, on_cpu = false;
    std::size_t job = 0, jobs = 0;     ///< the job in progress; the number of releases
    std::size_t segment = 0, step = 0; ///< the step is an index of Checker::steps
    Time used = 0;                     ///< time that the CPU segment has taken
    Time since = 0;                    ///< when the step began
    Time ready = 0;                    ///< when the job became ready at its base priority
    std::optional<Time> released;      ///< the last release
};

class Checker {
  public:
    Checker(const Trace &trace, const TaskSet &set, const Waiting &waiting)
        : trace_(trace), set_(set), waiting_(waiting), rank_(ranks(set)), tasks_(set.tasks.size()),
          on_core_(set.cores) {}

    std::vector<std::string> run() {
        for (const Record &record : trace_) {
            if (record.at < now_)
                wrong(record, "is before the record before it");
            if (record.at > now_)
                pass(record.at);
            replay(record);
            if (wrong_.size() > 20)
                return wrong_;
        }
        for (std::size_t task = 0; task < tasks_.size(); task++)
            if (tasks_[task].live)
                wrong_.push_back(set_.tasks[task].name + ": a job did not finish");
        for (const auto &running : on_core_)
            if (running)
                wrong_.push_back(set_.tasks[*running].name + ": keeps its core at the end");
        return wrong_;
    }

  private:
    static constexpr std::size_t nobody = ~std::size_t{0};
    /// The steps of a GPU segment, in order. Copies of no length have no records.
    static constexpr What steps[] = {
        What::copy_ask,   What::copy_begin, What::copy_end,   What::launch,   What::kernel_begin,
        What::kernel_end, What::copy_ask,   What::copy_begin, What::copy_end, What::segment_end};

    void wrong(const Record &record, const std::string &what) {
        wrong_.push_back(std::to_string(record.at) + " " + set_.tasks[record.task].name + "#" +
                         std::to_string(record.job) + " " + name_of(record.what) + ": " + what);
    }
    void wrong(std::size_t task, Time at, const std::string &what) {
        wrong_.push_back(std::to_string(at) + " " + set_.tasks[task].name + ": " + what);
    }

    const Segment &segment(std::size_t task) const {
        return set_.tasks[task].segments[tasks_[task].segment];
    }
    std::uint32_t core_of(std::size_t task) const { return *set_.tasks[task].core; }
    bool share(std::size_t a, std::size_t b) const {
        return std::ranges::find_first_of(*set_.tasks[a].sms, *set_.tasks[b].sms) !=
               set_.tasks[a].sms->end();
    }

    bool copies(std::size_t task) const {
        const Watched &mine = tasks_[task];
        return mine.boosted && mine.step > 0 && steps[mine.step - 1] == What::copy_begin;
    }
    bool awaits_copy(std::size_t task) const {
        const Watched &mine = tasks_[task];
        return mine.boosted && mine.step > 0 && steps[mine.step - 1] == What::copy_ask;
    }
    bool wants_cpu(std::size_t task) const {
        return tasks_[task].boosted && steps[tasks_[task].step] == What::copy_ask;
    }
    bool ready_at_base(std::size_t task) const {
        return tasks_[task].live && !tasks_[task].boosted;
    }

    /// Checks that nothing had to happen between the last record and @p then.
    void pass(Time then) {
        for (std::uint32_t core = 0; core < on_core_.size(); core++)
            pass_core(core);
        const bool copying =
            std::ranges::any_of(index(), [&](std::size_t task) { return copies(task); });
        for (const std::size_t task : index())
            if (awaits_copy(task) && !copying)
                wrong(task, now_, "waits for the copy engine, which is free");
        for (const std::size_t task : launched_)
            if (steps[tasks_[task].step] == What::kernel_begin && !before(task))
                wrong(task, now_, "its kernel waits for SMs that are free");
        for (std::size_t task = 0; task < tasks_.size(); task++)
            if (tasks_[task].on_cpu && !tasks_[task].boosted && tasks_[task].live)
                tasks_[task].used += then - now_;
        now_ = then;
    }

    void pass_core(std::uint32_t core) {
        const std::size_t running = on_core_[core].value_or(nobody);
        for (const std::size_t task : index()) {
            if (core_of(task) != core || task == running)
                continue;
            const bool base = running != nobody && !tasks_[running].boosted;
            if (wants_cpu(task) && (running == nobody || base))
                wrong(task, now_, "is boosted and needs the CPU, which it does not have");
            if (ready_at_base(task) &&
                (running == nobody || (base && rank_[running] > rank_[task])))
                wrong(task, now_, "is ready and has the higher priority, and not the CPU");
            if (tasks_[task].boosted && waiting_.busy)
                wrong(task, now_, "does not spin in its GPU segment");
            if (awaits_copy(task) && waiting_.spin_copies)
                wrong(task, now_, "does not spin for the copy engine");
            if (copies(task))
                wrong(task, now_, "copies without the CPU");
        }
        if (running == nobody)
            return;
        if (!tasks_[running].live)
            wrong(running, now_, "has the CPU and no job");
        if (tasks_[running].boosted && !waiting_.busy && !copies(running) &&
            !(waiting_.spin_copies && awaits_copy(running)))
            wrong(running, now_, "has the CPU while it should be suspended");
    }

    /// Returns true if a kernel that was launched earlier is not complete, and shares an SM with
    /// the task's kernel.
    bool before(std::size_t task) const {
        for (const std::size_t other : launched_) {
            if (other == task)
                return false;
            if (share(other, task))
                return true;
        }
        return false;
    }

    void replay(const Record &record) {
        Watched &mine = tasks_[record.task];
        if (record.what == What::release)
            return release(record);
        if (record.what == What::run || record.what == What::stop)
            return core_changes(record);
        if (!mine.live || record.job != mine.job)
            return wrong(record, "is not of the job in progress");
        if (record.what == What::finish)
            return finish(record);
        if (record.what == What::segment_begin)
            return begin(record);
        if (!mine.boosted)
            return wrong(record, "is not in a GPU segment");
        if (record.segment != mine.segment)
            return wrong(record, "is of another segment");
        skip_empty_copies(record.task, record.what);
        if (steps[mine.step] != record.what)
            return wrong(record,
                         std::string("comes where ") + name_of(steps[mine.step]) + " should");
        step(record);
        mine.step++;
        mine.since = record.at;
        if (record.what == What::segment_end) {
            mine.boosted = false;
            mine.ready = record.at;
            next(record.task);
        }
    }

    /// Skips the steps of a copy without records. A copy may take less than its worst case, even no
    /// time, and then it has no records.
    void skip_empty_copies(std::size_t task, What what) {
        Watched &mine = tasks_[task];
        if (steps[mine.step] == What::copy_ask &&
            (what == What::launch || what == What::segment_end)) {
            mine.step += 3;
            std::erase_if(wanting_[core_of(task)],
                          [&](std::size_t other) { return other == task; });
        }
    }

    void step(const Record &record) {
        const std::size_t task = record.task;
        Watched &mine = tasks_[task];
        const Segment &gpu = segment(task);
        const Time took = record.at - mine.since;
        std::vector<std::size_t> &wanting = wanting_[core_of(task)];
        switch (record.what) {
        case What::copy_ask:
            if (!wanting.empty() && wanting.front() != task)
                wrong(record, "another boosted task has waited longer for the CPU");
            std::erase(wanting, task);
            asked_.push_back(task);
            break;
        case What::copy_begin:
            if (asked_.empty() || asked_.front() != task)
                wrong(record, "another task has asked for the copy engine before");
            std::erase(asked_, task);
            for (const std::size_t other : index())
                if (copies(other))
                    wrong(record, "the copy engine is in use");
            break;
        case What::copy_end:
            if (took > (mine.step == 2 ? gpu.to_device : gpu.from_device))
                wrong(record, "takes longer than its worst case");
            break;
        case What::launch:
            launched_.push_back(task);
            break;
        case What::kernel_begin:
            if (before(task))
                wrong(record, "a kernel that was launched before shares an SM and is not complete");
            break;
        case What::kernel_end:
            if (took > gpu.kernel_on(set_.tasks[task].sms->size()))
                wrong(record, "takes longer than its worst case");
            std::erase(launched_, task);
            if (!waiting_.busy)
                wanting.push_back(task);
            break;
        default:
            break;
        }
    }

    void release(const Record &record) {
        Watched &mine = tasks_[record.task];
        if (record.job != mine.jobs++)
            wrong(record, "jobs are not in order");
        if (mine.released && record.at - *mine.released < set_.tasks[record.task].period)
            wrong(record, "is less than a period after the one before");
        mine.released = record.at;
        if (!mine.live)
            start(record.task, record.job);
    }

    void start(std::size_t task, std::size_t job) {
        Watched &mine = tasks_[task];
        mine.live = true;
        mine.job = job;
        mine.segment = 0;
        mine.used = 0;
        mine.ready = now_;
    }

    void next(std::size_t task) {
        tasks_[task].segment++;
        tasks_[task].used = 0;
    }

    void end_cpu_segments(std::size_t task) {
        Watched &mine = tasks_[task];
        const auto &segments = set_.tasks[task].segments;
        // Consecutive CPU segments have no records between them, so their sum is checked.
        Time worst = 0;
        while (mine.segment < segments.size() && !segments[mine.segment].gpu) {
            worst = add(worst, segments[mine.segment].cpu);
            mine.segment++;
        }
        if (mine.used > worst)
            wrong(task, now_, "computes longer than its worst case");
        mine.used = 0;
    }

    void begin(const Record &record) {
        Watched &mine = tasks_[record.task];
        end_cpu_segments(record.task);
        if (mine.boosted || record.segment != mine.segment ||
            mine.segment >= set_.tasks[record.task].segments.size())
            return wrong(record, "there is no such segment to begin");
        // The task was running, or has the highest priority of the ready tasks of its core.
        for (const std::size_t other : index())
            if (other != record.task && core_of(other) == core_of(record.task) &&
                ready_at_base(other) && rank_[other] < rank_[record.task] &&
                tasks_[other].ready < record.at)
                wrong(record, set_.tasks[other].name + " is ready and has the higher priority");
        mine.boosted = true;
        mine.step = 0;
        mine.since = record.at;
        if (!waiting_.busy)
            wanting_[core_of(record.task)].push_back(record.task);
    }

    void finish(const Record &record) {
        Watched &mine = tasks_[record.task];
        end_cpu_segments(record.task);
        if (mine.boosted || mine.segment != set_.tasks[record.task].segments.size())
            wrong(record, "work is left");
        mine.live = false;
        if (mine.jobs > record.job + 1)
            start(record.task, record.job + 1);
    }

    void core_changes(const Record &record) {
        std::optional<std::size_t> &running = on_core_[core_of(record.task)];
        tasks_[record.task].on_cpu = record.what == What::run;
        if (record.what == What::run && running)
            wrong(record, "another task has the core");
        if (record.what == What::stop && running != record.task)
            wrong(record, "it does not have the core");
        running = record.what == What::run ? std::optional(record.task) : std::nullopt;
    }

    const std::vector<std::size_t> &index() {
        if (index_.empty())
            for (std::size_t task = 0; task < tasks_.size(); task++)
                index_.push_back(task);
        return index_;
    }

    const Trace &trace_;
    const TaskSet &set_;
    const Waiting waiting_;
    const std::vector<std::size_t> rank_;
    std::vector<Watched> tasks_;
    std::vector<std::optional<std::size_t>> on_core_;
    /// The boosted tasks of each core that need it, in the order of their requests.
    std::map<std::uint32_t, std::vector<std::size_t>> wanting_;
    std::vector<std::size_t> asked_, launched_; ///< tasks, in the order of requests and launches
    std::vector<std::size_t> index_;
    std::vector<std::string> wrong_;
    Time now_ = 0;
};

} // namespace

std::vector<std::string> check_trace(const Trace &trace, const TaskSet &set,
                                     const Waiting &waiting) {
    return Checker(trace, set, waiting).run();
}

} // namespace stgm
