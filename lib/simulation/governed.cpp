// SPDX-License-Identifier: MIT OR GPL-2.0
#include "governed.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

Keeper::Keeper(std::size_t gpu, const std::vector<qos::Goal> &goals, const qos::Settings &settings,
               OnEpoch on_epoch)
    : gpu_(gpu), on_epoch_(std::move(on_epoch)), sets_timeslices_(qos::takes_timeslices(goals)),
      goals_(goals), governor_(settings, goals, 0), missed_(goals.size()), reasons_(goals.size()) {
    governor_.step(0);
}

/// A step waits until all that it asked for is done.
Ns Keeper::due() const {
    if (asked_ > 0)
        return never;
    const Ns due = std::max(governor_.due(), now_);
    return is_searching() ? std::min(due, now_ + qos::between_looks_at_a_search) : due;
}

void Keeper::read(Driver &driver) {
    for (const Turn &turn : driver.take_turns(gpu_)) {
        HeldTask &task = tasks_[turn.tsg];
        look_needed_ = look_needed_ || !std::exchange(task.has_turns, true);
        governor_.add({task.tenant, turn.tsg, turn.begin, turn.end, turn.ends});
    }
}

/// Takes what a search has found. Returns whether the search was one for tasks.
bool Keeper::take_found() {
    const bool was_looking = std::exchange(looking_, false);
    const bool was_holding = std::exchange(holding_, false);
    for (auto &[number, task] : tasks_) {
        if (was_looking && task.known == Known::no && task.has_turns)
            task.known = Known::found;
        else if (was_holding && task.known == Known::found)
            task.known = Known::held;
    }
    if (was_looking || was_holding)
        count_tsgs();
    return was_looking;
}

void Keeper::begin_search(Ns now) {
    if (is_searching())
        return;
    holding_ = std::ranges::any_of(
        tasks_, [](const auto &one) { return one.second.known == Known::found; });
    if (holding_ || !look_needed_ || now - looked_at_ < governor_.settings().epoch)
        return;
    looked_at_ = now;
    look_needed_ = false;
    looking_ = true;
}

void Keeper::count_tsgs() {
    std::vector<std::int64_t> tsgs(goals_.size());
    for (const auto &[number, task] : tasks_)
        tsgs[task.tenant] += task.known == Known::found || task.known == Known::held;
    for (std::size_t n = 0; n < tsgs.size(); n++)
        governor_.set_tsgs(n, tsgs[n]);
}

void Keeper::step(Ns now, Driver &driver) {
    now_ = now;
    const bool was_found = take_found(), reads = was_found || governor_.needs_turns(now);
    if (reads)
        read(driver);
    if (const auto epoch = governor_.step(now, reads)) {
        note(*epoch);
        if (on_epoch_)
            on_epoch_(*epoch, governor_);
    }
    // What is recorded of a pause is not use: it is read before the pause is over.
    const bool resumes = std::ranges::any_of(tasks_, [&](const auto &one) {
        return one.second.paused_since && !governor_.lever(one.second.tenant).paused;
    });
    if (!reads && resumes)
        read(driver);
    apply(now, driver);
    begin_search(now);
    due_ = governor_.due();
}

/// Notes for each tenant whether its goal was kept in the epoch, and the reason that nvqos gives.
void Keeper::note(const qos::EpochRecord &epoch) {
    std::vector<bool> has_tasks(goals_.size()), is_held(goals_.size());
    for (const auto &[number, task] : tasks_) {
        const bool is_held_now = task.known == Known::held;
        has_tasks[task.tenant] =
            has_tasks[task.tenant] || is_held_now || task.known == Known::found;
        is_held[task.tenant] = is_held[task.tenant] || is_held_now;
    }
    for (std::size_t n = 0; n < goals_.size(); n++) {
        missed_[n] += !epoch.tenants[n].kept;
        reasons_[n].push_back({epoch.end, qos::why_not(goals_[n], epoch.tenants[n],
                                                       {.has_tasks = has_tasks[n],
                                                        .is_seen = is_held[n],
                                                        .is_cut = epoch.overcommitted})});
    }
}

void Keeper::apply(Ns now, Driver &driver) {
    for (auto &[number, task] : tasks_) {
        if (task.known != Known::held)
            continue;
        const qos::Lever &lever = governor_.lever(task.tenant);
        const bool has_timeslice =
            !sets_timeslices_ ||
            task.timeslice == qos::timeslice_to_ask(lever.timeslice, task.timeslice);
        const bool is_same = task.is_asked && task.paused == lever.paused && has_timeslice;
        if (is_same && now - task.asked_at < qos::usual_beat)
            continue;
        if (!driver.is_alive(number)) {
            task.known = Known::gone;
            task.paused_since.reset();
            look_needed_ = true;
            count_tsgs();
            continue;
        }
        task.asked_at = now;
        ask(number, task, lever, driver);
    }
}

/// Asks for the parts of the lever that are not in effect.
void Keeper::ask(std::size_t number, HeldTask &task, const qos::Lever &lever, Driver &driver) {
    const auto send = [&](const Request &request) {
        driver.ask(request);
        asked_++;
    };
    task.is_asked = true;
    if (lever.paused != task.paused)
        send({number, lever.paused ? Request::What::pause : Request::What::resume});
    task.paused = lever.paused;
    if (!lever.paused)
        task.paused_since.reset();
    if (!sets_timeslices_)
        return;
    const Ns timeslice = qos::timeslice_to_ask(lever.timeslice, task.timeslice);
    governor_.set_in_effect(task.tenant, task.timeslice == timeslice);
    if (task.timeslice != timeslice)
        send({number, Request::What::timeslice, timeslice / qos::us});
    task.timeslice = timeslice;
}

void Keeper::served(const Request &request, Ns now) {
    asked_--;
    if (asked_ == 0)
        now_ = std::max(now_, now);
    HeldTask &task = tasks_[request.task];
    if (request.what == Request::What::timeslice)
        governor_.set_in_effect(task.tenant, true);
    if (request.what != Request::What::pause || task.paused_since)
        return;
    task.paused_since = now;
    governor_.set_pause(pause_time_.add(now - due_));
}

void Governed::begin(const std::vector<Task> &tasks) {
    for (std::size_t gpu = 0; gpu < scenario_.gpus.count; gpu++) {
        std::vector<qos::Goal> goals;
        std::vector<std::size_t> tenants(scenario_.jobs.size());
        for (std::size_t job = 0; job < scenario_.jobs.size(); job++)
            if (std::ranges::count(scenario_.jobs[job].gpus, gpu)) {
                tenants[job] = goals.size();
                goals.push_back(scenario_.jobs[job].goal);
            }
        Keeper &keeper = keepers_.emplace_back(gpu, goals);
        for (std::size_t n = 0; n < tasks.size(); n++)
            if (tasks[n].gpu == gpu)
                keeper.add_task(n, tenants[tasks[n].job]);
    }
    for (const Task &task : tasks)
        gpus_.push_back(task.gpu);
}

void Governed::add_reasons(Measures &seen) const {
    std::vector<std::size_t> tenants(scenario_.gpus.count); // on each GPU, of the jobs so far
    for (std::size_t job = 0; job < scenario_.jobs.size(); job++)
        for (std::size_t rank = 0; rank < scenario_.jobs[job].ranks(); rank++) {
            const std::size_t gpu = scenario_.jobs[job].gpus[rank];
            seen.jobs[job].ranks[rank].reasons = keepers_[gpu].reasons(tenants[gpu]++);
        }
}

Ns Governed::due() const {
    Ns due = never;
    for (const Keeper &keeper : keepers_)
        due = std::min(due, keeper.due());
    return due;
}

void Governed::step(Ns now, Driver &driver) {
    for (Keeper &keeper : keepers_)
        if (keeper.due() <= now)
            keeper.step(now, driver);
}

void Governed::served(const Request &request, Ns now) {
    keepers_[gpus_[request.task]].served(request, now);
}

} // namespace simulation
