// SPDX-License-Identifier: MIT OR GPL-2.0
#include "rank.hpp"

#include <algorithm>
#include <utility>

namespace simulation {
namespace {

/// The processes of a job begin so far apart.
constexpr Ns start_spread = 3 * qos::ms;

} // namespace

Rank::Rank(const Scenario &scenario, std::size_t job, std::size_t rank, Collectives &collectives,
           Arrivals &arrivals, Engine *engine)
    : job_(scenario.jobs[job]), program_(job_.program(rank)), rank_(rank),
      kernel_jitter_(scenario.gpus.kernel_jitter), all_(collectives), arrivals_(arrivals),
      cpu_random_(scenario.seed, job_.name, Random::Purpose::cpu, rank),
      kernel_random_(scenario.seed, job_.name, Random::Purpose::kernels, rank), engine_(engine),
      step_(engine ? program_ : Program()),
      started_at_(
          job_.start +
          Random(scenario.seed, job_.name, Random::Purpose::start, rank).below(start_spread)) {}

Ns Rank::cpu_time(Ns time) {
    if (time == 0 || job_.cpu_jitter == 0)
        return time;
    return jittered(jittered(time, job_.cpu_jitter, pass_normal_), job_.cpu_jitter,
                    cpu_random_.normal());
}

void Rank::advance(Ns now, bool progresses) {
    if (progresses_ && kernel_left_ != never)
        kernel_left_ -= now - now_;
    now_ = now;
    progresses_ = progresses && is_alive();
    while (is_alive() && (go_on_with_collectives(now) || go_on_with_gpu() || go_on_with_cpu(now)))
        continue;
}

/// Begins, runs or ends the first collective. Returns whether it has ended.
bool Rank::go_on_with_collectives(Ns now) {
    if (collectives_.empty() || (!progresses_ && !runs_collective_))
        return false;
    const Item &item = *collectives_.front();
    if (std::exchange(runs_collective_, true))
        all_.set_running(rank_, progresses_, now);
    else
        all_.begin(rank_, item.time, item.rounds, now);
    if (!progresses_ || !all_.is_done(rank_))
        return false;
    collectives_.pop_front();
    runs_collective_ = false;
    return true;
}

/// Begins the first item of the GPU's queue if it was not begun, which draws a random length for a
/// kernel, and returns whether it has ended, so that the GPU may go on to the next one.
bool Rank::is_over(const Item &item) {
    switch (item.kind) {
    case Item::Kind::kernel:
        if (!is_head_begun_)
            kernel_left_ = kernel_jitter_ && item.time
                               ? jittered(item.time, kernel_jitter_, kernel_random_.normal())
                               : item.time;
        is_head_begun_ = true;
        return progresses_ && kernel_left_ == 0;
    case Item::Kind::collective:
        if (!progresses_)
            return false;
        if (!is_head_begun_)
            collectives_.push_back(&item);
        is_head_begun_ = true;
        return item.overlap;
    default:
        return true;
    }
}

/// Takes the GPU to the next item. Returns whether it went on, or began a collective.
bool Rank::go_on_with_gpu() {
    if (head_ == launched_)
        return false;
    const Item &item = program()[head_];
    const bool was_begun = is_head_begun_;
    const bool waits_for_collectives =
        item.kind == Item::Kind::join ||
        (item.kind == Item::Kind::collective && !item.overlap && was_begun);
    if (waits_for_collectives ? !collectives_.empty() : !is_over(item))
        return item.kind == Item::Kind::collective && is_head_begun_ != was_begun;
    head_++;
    is_head_begun_ = false;
    kernel_left_ = never;
    return true;
}

/// Takes the CPU one step further. Returns whether there was one to take.
bool Rank::go_on_with_cpu(Ns now) {
    if (state_ == State::waits) {
        if (due() > now)
            return false;
        state_ = State::works;
        if (engine_ && leads())
            engine_->begin_step(arrivals_, now);
        if (engine_)
            step_.back().time = engine_->step_time();
        cpu_at_ = launched_ = head_ = 0;
        pass_normal_ = job_.cpu_jitter ? cpu_random_.normal() : 0;
        return true;
    }
    if (cpu_busy_until_ != never) {
        if (cpu_busy_until_ > now)
            return false;
        cpu_busy_until_ = never;
        launched_ = ++cpu_at_;
        return true;
    }
    const Program &items = program();
    const bool is_end = cpu_at_ == items.size();
    if (is_end || items[cpu_at_].kind == Item::Kind::think) {
        if (has_work())
            return false;
        if (is_end) {
            passes_++;
            if (engine_ && leads())
                engine_->end_step(now);
            state_ = State::waits;
        } else {
            cpu_busy_until_ = now + cpu_time(items[cpu_at_].time);
        }
        return true;
    }
    if (items[cpu_at_].launch > 0) {
        cpu_busy_until_ = now + cpu_time(items[cpu_at_].launch);
        return true;
    }
    while (cpu_at_ < items.size() && items[cpu_at_].kind != Item::Kind::think &&
           items[cpu_at_].launch == 0)
        cpu_at_++;
    launched_ = cpu_at_;
    return true;
}

/// Returns when the next pass begins at the earliest.
Ns Rank::next_pass() const {
    if (!engine_)
        return arrivals_.at(passes_);
    if (leads())
        return engine_->due(arrivals_);
    return engine_->begun() > passes_ ? 0 : never;
}

bool Rank::is_serving() const {
    return engine_ && is_alive() && engine_->has_requests(arrivals_, now_);
}

std::vector<ServedRequest> Rank::take_served() {
    return engine_ && leads() ? engine_->take_served() : std::vector<ServedRequest>();
}

Ns Rank::due() const {
    if (state_ == State::dead)
        return never;
    const Ns due = state_ == State::waits ? std::max(started_at_, next_pass()) : cpu_busy_until_;
    return progresses_ && kernel_left_ != never ? std::min(due, now_ + kernel_left_) : due;
}

void Rank::kill(Ns now) {
    advance(now, false);
    state_ = State::dead;
    collectives_.clear();
    head_ = launched_ = 0;
}

} // namespace simulation
