// SPDX-License-Identifier: MIT OR GPL-2.0
#include "levers.hpp"

#include <algorithm>

namespace nvqos {

using qos::Ns;

namespace {

/// Returns the request for a task.
/// @param asked the last request
nvdebug::TaskState state_for(const WantedLever &lever,
                             const std::optional<nvdebug::TaskState> &asked) {
    nvdebug::TaskState state{.paused = lever.paused};
    if (lever.timeslice) {
        std::optional<Ns> previous;
        if (asked && asked->timeslice_ns)
            previous = static_cast<Ns>(*asked->timeslice_ns);
        state.timeslice_ns =
            static_cast<std::uint64_t>(qos::timeslice_to_ask(*lever.timeslice, previous));
    }
    return state;
}

} // namespace

Levers::Pauses Levers::set(std::span<const WantedLever> wanted, const Moment &moment) {
    std::vector<Task *> asked;
    bool changes = false;
    const Ns since = clock_();
    for (auto &[pid, task] : tasks_.all()) {
        if (task.holds.empty())
            continue;
        const auto before = task.asked.state;
        const auto done = ask(task, wanted[task.tenant], moment);
        changes = changes || task.asked.state != before;
        if (!done)
            tasks_.give_up(task, done.error());
        else if (*done)
            asked.push_back(&task);
    }
    Pauses begun;
    for (Task *const task : asked) {
        if (auto finished = task->finish(); !finished)
            tasks_.give_up(*task, finished.error());
        if (!task->asked.state || !task->asked.state->paused)
            task->asked.paused_since.reset();
        else if (!task->asked.paused_since) {
            task->asked.paused_since = clock_();
            // The next pause is asked for earlier by the time that this one took. If it begins
            // before the cap is used up, the rest stays credit.
            begun.takes =
                pause_time_.add(*task->asked.paused_since - std::min(moment.due, moment.now));
            begun.tenants.push_back(task->tenant);
        }
    }
    if (changes)
        changed_at_ = clock_();
    if (!asked.empty()) {
        requests_.count += asked.size();
        requests_.time += clock_() - since;
    }
    return begun;
}

nvdebug::Result<bool> Levers::ask(Task &task, const WantedLever &wanted,
                                  const Moment &moment) const {
    if (auto shown = show_on_record(task, moment); !shown)
        return tl::unexpected(shown.error());
    const nvdebug::TaskState state = state_for(wanted, task.asked.state);
    if (task.asked.state == state && moment.now - task.asked.at < beat_)
        return false;
    if (auto sent = task.ask(state); !sent)
        return tl::unexpected(sent.error());
    task.asked.state = state;
    task.asked.at = moment.now;
    return true;
}

/// Pauses a task for a moment if no switch of it was read. The driver records switches alone: a
/// context that had the GPU before the record began leaves it when another context comes, and until
/// then its use is unseen, so that a cap would not be kept. A pause of a millisecond makes it leave
/// and come back (measured on an H100).
nvdebug::Result<void> Levers::show_on_record(Task &task, const Moment &moment) const {
    const bool is_silent = !moment.has_switches && moment.now - tenants_[task.tenant].since >=
                                                       tenants_.goals().settings.epoch;
    const bool is_tenants = task.tenant != tenants_.others();
    if (task.recorded || !(tenants_.goal(task.tenant).cap || (is_tenants && is_silent)))
        return {};
    task.recorded = true;
    task.asked.state.reset();
    for (const bool paused : {true, false})
        if (auto done = task.ask({.paused = paused}); !done || !(done = task.finish()))
            return done;
    return {};
}

bool Levers::ends_pause(std::span<const WantedLever> wanted) const {
    return std::ranges::any_of(tasks_.all(), [&](const auto &one) {
        return one.second.asked.paused_since && !wanted[one.second.tenant].paused;
    });
}

} // namespace nvqos
