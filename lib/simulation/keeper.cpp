// SPDX-License-Identifier: MIT OR GPL-2.0
#include "keeper.hpp"

#include <algorithm>

namespace simulation {
namespace {

/// A change of levers may end turns so long after it is in effect.
constexpr Ns effect_takes = 3 * qos::ms;

} // namespace

Keeper::Keeper(std::size_t gpu, const std::vector<qos::Goal> &goals, const qos::Settings &settings,
               OnEpoch on_epoch)
    : gpu_(gpu), on_epoch_(std::move(on_epoch)), sets_timeslices_(qos::takes_timeslices(goals)),
      goals_(goals), governor_(settings, goals, 0), verdicts_(goals.size()) {
    governor_.step(0);
}

void Keeper::add_task(std::size_t number, std::size_t tenant, Ns timeslice) {
    HeldTask &task = tasks_[number];
    task.tenant = tenant;
    task.first_timeslice = timeslice;
}

/// A step waits until all that it asked for is done.
Ns Keeper::due() const {
    if (asked_ > 0)
        return never;
    const Ns due = is_carried_ ? std::max(stepped_at_ + governor_.settings().epoch, now_)
                               : std::max(governor_.due(), now_);
    if (is_marked_)
        return now_;
    return is_searching() ? std::min(due, now_ + qos::between_looks_at_a_search) : due;
}

void Keeper::read(Driver &driver) {
    for (const Turn &turn : driver.take_turns(gpu_)) {
        HeldTask &task = tasks_[turn.tsg];
        look_needed_ = look_needed_ || !std::exchange(task.has_turns, true);
        if (keeps_turns_)
            recent_.push_back({turn, gives_way(task, turn)});
        if (!is_carried_)
            governor_.add({task.tenant, turn.tsg, turn.begin, turn.end, turn.ends});
    }
}

/// Returns whether a turn ended because the task had no work.
bool Keeper::gives_way(HeldTask &task, const Turn &turn) const {
    const Ns begin = task.turn_begin.value_or(turn.begin);
    task.turn_begin = turn.ends ? std::nullopt : std::optional(begin);
    // A new timeslice begins when it is set.
    const Ns slice = task.timeslice.value_or(task.first_timeslice),
             length = turn.end - std::max(begin, served_at_);
    return turn.ends && length < slice - slice / 16 && turn.end > served_at_ + effect_takes;
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

void Keeper::marked(std::size_t task, bool busy, Ns now) {
    governor_.mark(tasks_.at(task).tenant, busy);
    is_marked_ = true;
    now_ = std::max(now_, now);
}

void Keeper::step(Ns now, Driver &driver) {
    now_ = stepped_at_ = now;
    is_marked_ = false;
    if (is_carried_) {
        take_found();
        read(driver);
        drop_dead(driver);
        begin_search(now);
        return;
    }
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
        const qos::Record &record = epoch.tenants[n];
        verdicts_[n].push_back({epoch.end, record.kept,
                                qos::why_not(goals_[n], record,
                                             {.has_tasks = has_tasks[n],
                                              .is_seen = is_held[n],
                                              .is_cut = epoch.overcommitted})});
    }
}

std::size_t Keeper::missed(std::size_t tenant) const {
    return static_cast<std::size_t>(std::ranges::count(verdicts_[tenant], false, &Verdict::kept));
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
    task.is_asked = true;
    if (lever.paused != task.paused)
        send({number, lever.paused ? Request::What::pause : Request::What::resume}, driver);
    task.paused = lever.paused;
    if (!lever.paused)
        task.paused_since.reset();
    if (!sets_timeslices_)
        return;
    const Ns timeslice = qos::timeslice_to_ask(lever.timeslice, task.timeslice);
    governor_.set_in_effect(task.tenant, task.timeslice == timeslice);
    if (task.timeslice != timeslice)
        send({number, Request::What::timeslice, timeslice / qos::us}, driver);
    task.timeslice = timeslice;
}

void Keeper::send(const Request &request, Driver &driver) {
    driver.ask(request);
    asked_++;
}

void Keeper::set_carried(bool carried, Ns now) {
    if (std::exchange(is_carried_, carried) == carried || carried)
        return;
    const qos::Governor before =
        std::exchange(governor_, qos::Governor(governor_.settings(), goals_, now));
    for (std::size_t n = 0; n < goals_.size(); n++) {
        governor_.set_spans(n, before.spans(n));
        governor_.mark(n, before.marked(n));
    }
    governor_.step(now);
    pause_time_ = {};
    count_tsgs();
    due_ = now_ = now;
}

void Keeper::carry(std::size_t number, const qos::WindowLever &lever, Driver &driver) {
    HeldTask &task = tasks_.at(number);
    if (task.known != Known::held || !driver.is_alive(number))
        return;
    const auto pause = [&](bool paused) {
        if (std::exchange(task.paused, paused) != paused)
            send({number, paused ? Request::What::pause : Request::What::resume}, driver);
    };
    // A task has its timeslice before it goes on, and is stopped before it loses it.
    if (lever.paused)
        pause(true);
    if (lever.timeslice && timeslice(number) != *lever.timeslice) {
        send({number, Request::What::timeslice, *lever.timeslice / qos::us}, driver);
        task.timeslice = lever.timeslice;
    }
    if (!lever.paused)
        pause(false);
    task.is_asked = true;
    task.paused_since.reset();
}

Ns Keeper::timeslice(std::size_t task) const {
    const HeldTask &one = tasks_.at(task);
    return one.timeslice.value_or(one.first_timeslice);
}

std::vector<std::size_t> Keeper::held() const {
    std::vector<std::size_t> numbers;
    for (const auto &[number, task] : tasks_)
        if (task.known == Known::held)
            numbers.push_back(number);
    return numbers;
}

void Keeper::drop_dead(const Driver &driver) {
    for (auto &[number, task] : tasks_)
        if (task.known == Known::held && !driver.is_alive(number)) {
            task.known = Known::gone;
            task.paused_since.reset();
            look_needed_ = true;
            count_tsgs();
        }
}

void Keeper::served(const Request &request, Ns now) {
    asked_--;
    served_at_ = now;
    if (asked_ == 0)
        now_ = std::max(now_, now);
    HeldTask &task = tasks_[request.task];
    if (is_carried_)
        return;
    if (request.what == Request::What::timeslice)
        governor_.set_in_effect(task.tenant, true);
    if (request.what != Request::What::pause || task.paused_since)
        return;
    task.paused_since = now;
    governor_.set_pause(pause_time_.add(now - due_));
}

} // namespace simulation
