// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A task set on the GPU model, in virtual time. It has the locks and levels of 'nvstgm run',
 * and the GPU model decides how long copies and kernels take. It shares no code with the simulator
 * of nvstgm. */
#ifndef STGM_MODEL_SET_ON_MODEL_HPP
#define STGM_MODEL_SET_ON_MODEL_HPP

#include <algorithm>
#include <list>
#include <memory>

#include "lab/model/stage.hpp"
#include "lib/stgm/levels.hpp"
#include "lib/stgm/ticket_lock.hpp"
#include "lib/stgm/trace.hpp"
#include "model/src/board/board.hpp"
#include "model/src/programs/copy_speed.hpp"
#include "model/src/programs/programs.hpp"

namespace stgm_model {

using lab::Procedure;
using nvmodel::Ns;
using stgm::Time;

enum class Fault {
    none,
    no_boost,     ///< GPU segments have the task's own priority
    long_kernels, ///< kernels take twice as long as in the set
};

struct How {
    stgm::Waiting waiting;
    std::vector<Time> offsets; ///< us, by task
    Time duration = 0;         ///< us; no job is released after it
    Fault fault = Fault::none;
};

/** The jobs of a task. */
struct Came {
    std::size_t jobs = 0;
    Ns response = 0;     ///< the largest response
    bool longer = false; ///< a copy or a kernel took longer than in the set
};

class SetOnModel final : private lab::World {
  public:
    /** @param set has times in us, cores and SMs */
    SetOnModel(const nvmodel::Board &board, const stgm::TaskSet &set, How how)
        : set_(set), how_(std::move(how)), levels_(stgm::levels_of(set)), came_(set.tasks.size()) {
        std::vector<nvmodel::Process> processes;
        for (const stgm::Task &task : set.tasks)
            processes.push_back({.name = task.name, .mps_server = "server"});
        gpu_ = std::make_unique<nvmodel::Programs>(board, std::move(processes));
        for (stgm::TicketLock *const lock : {&locks_->copies, &locks_->kernels, &locks_->cores})
            lock->init();
        for (std::size_t n = 0; n < set.tasks.size(); n++) {
            streams_.push_back(gpu_->open_stream(n));
            for (std::size_t other = 0; other < n; other++) {
                if (!share_sms(set.tasks[n], set.tasks[other]))
                    locks_->kernels.let_together(n, other);
                if (*set.tasks[n].core != *set.tasks[other].core)
                    locks_->cores.let_together(n, other);
            }
        }
    }

    std::vector<Came> run() {
        const Ns begin = now();
        for (std::size_t n = 0; n < set_.tasks.size(); n++)
            tasks_.push_back(task(n, begin));
        for (Procedure &one : tasks_)
            stage_.start(one);
        constexpr Ns patience = 1'000'000'000;
        stage_.run(begin + us(how_.duration) + patience,
                   [&] { return std::ranges::all_of(tasks_, &Procedure::done); });
        return came_;
    }

  private:
    struct Locks {
        stgm::TicketLock copies, kernels, cores;
    };

    static Ns us(Time time) { return time * nvmodel::ns_per_us; }
    /** Returns 90 % of a length, as `run` does, to leave room for latencies. */
    static Ns shortened(Time time) { return us(time) * 9 / 10; }

    static bool share_sms(const stgm::Task &one, const stgm::Task &other) {
        return one.sms && other.sms && std::ranges::any_of(*one.sms, [&](std::uint32_t sm) {
                   return std::ranges::count(*other.sms, sm);
               });
    }

    Ns now() const override { return gpu_->now(); }
    void advance(Ns time) override { gpu_->advance(time); }

    lab::Stage::Wait take(stgm::TicketLock &lock, std::size_t task, int level = 0) {
        lock.ask(task, level);
        return stage_.until([&lock, task] { return lock.is_in(task); });
    }
    lab::Stage::Wait at(Ns time) { return {stage_, time, {}}; }

    /** Returns a flag that becomes true after @p duration. */
    const bool *timer(Ns duration) {
        bool *const over = &over_.emplace_back(false);
        timers_.push_back(wait_and_set(now() + duration, over));
        stage_.start(timers_.back());
        return over;
    }
    Procedure wait_and_set(Ns time, bool *over) {
        co_await at(time);
        *over = true;
    }

    std::size_t copy(std::size_t task, bool to_device, Time length) {
        const auto direction = to_device ? nvmodel::Direction::to_gpu : nvmodel::Direction::to_host;
        const auto speed = nvmodel::cuda_copy_speed(direction);
        const double bytes =
            (static_cast<double>(shortened(length)) - speed.setup_ns) * speed.bytes_per_ns;
        return gpu_->copy(streams_[task], direction,
                          static_cast<std::uint64_t>(std::max(bytes, 1.0)));
    }
    /** Launches blocks of which each fills an SM, for all SMs of the task. An "SM" of the set is a
     * TPC, which has two SMs. */
    std::size_t kernel(std::size_t task, Time length) {
        constexpr unsigned sms_per_tpc = 2;
        const Ns block = shortened(length) * (how_.fault == Fault::long_kernels ? 2 : 1);
        return gpu_->launch(
            streams_[task],
            {.blocks = static_cast<unsigned>(set_.tasks[task].sms->size()) * sms_per_tpc,
             .threads = 1024,
             .shared = 200 << 10,
             .block = block});
    }

    Procedure task(std::size_t n, Ns begin) {
        const stgm::Task &task = set_.tasks[n];
        const int base = levels_[n].base,
                  boosted = how_.fault == Fault::no_boost ? base : levels_[n].boosted;
        const bool busy = how_.waiting.busy, keeps_core = busy || how_.waiting.spin_copies;
        stgm::TicketLock &cores = locks_->cores;
        for (Time release = how_.offsets[n]; release < how_.duration; release += task.period) {
            co_await at(begin + us(release));
            co_await take(cores, n, base);
            for (const stgm::Segment &segment : task.segments) {
                for (Ns left = segment.gpu ? 0 : us(segment.cpu); left > 0;) {
                    const Ns since = now();
                    const bool *const over = timer(left);
                    co_await stage_.until(
                        [&cores, n, over] { return *over || cores.is_asked_for(n); });
                    left -= now() - since;
                    if (left > 0) {
                        cores.leave(n);
                        co_await take(cores, n, base);
                    }
                }
                if (!segment.gpu)
                    continue;
                cores.set_level(n, boosted);
                for (const bool to_device : {true, false}) {
                    const Time length = to_device ? segment.to_device : segment.from_device;
                    if (length) {
                        if (!keeps_core)
                            cores.leave(n);
                        co_await take(locks_->copies, n);
                        if (!keeps_core)
                            co_await take(cores, n, boosted);
                        const Ns since = now();
                        const std::size_t operation = copy(n, to_device, length);
                        co_await stage_.until([this, operation] { return gpu_->done(operation); });
                        came_[n].longer |= now() - since > us(length);
                        locks_->copies.leave(n);
                    }
                    const Time e = segment.kernel_on(task.sms->size());
                    if (!to_device || !e)
                        continue;
                    if (!busy)
                        cores.leave(n);
                    co_await take(locks_->kernels, n);
                    const Ns since = now();
                    const std::size_t operation = kernel(n, e);
                    co_await stage_.until([this, operation] { return gpu_->done(operation); });
                    came_[n].longer |= now() - since > us(e);
                    locks_->kernels.leave(n);
                    if (!busy)
                        co_await take(cores, n, boosted);
                }
                cores.set_level(n, base);
                if (cores.is_asked_for(n)) {
                    cores.leave(n);
                    co_await take(cores, n, base);
                }
            }
            cores.leave(n);
            came_[n].jobs++;
            came_[n].response = std::max(came_[n].response, now() - begin - us(release));
        }
    }

    const stgm::TaskSet &set_;
    How how_;
    std::vector<stgm::Levels> levels_;
    std::vector<Came> came_;
    std::unique_ptr<nvmodel::Programs> gpu_;
    std::unique_ptr<Locks> locks_ = std::make_unique<Locks>();
    std::vector<std::size_t> streams_;
    lab::Stage stage_{*this};
    std::vector<Procedure> tasks_;
    std::list<Procedure> timers_; // stay where they are
    std::list<bool> over_;        // of the timers
};

} // namespace stgm_model

#endif
