// SPDX-License-Identifier: MIT OR GPL-2.0
#include "task_times.hpp"

namespace nvdebug::exporter {

Holder task_of(const Holder &who) {
    if (who.pid)
        return {.pid = who.pid};
    return {.runlist = who.runlist, .tsg = who.tsg, .channel = who.channel};
}

void TaskTimes::add(const Turn &turn, std::optional<std::uint64_t> timeslice_ns) {
    if (turn.gap_ns && *turn.gap_ns <= Tally::longest_switch_ns)
        switches_.add(*turn.gap_ns);
    const Holder task = task_of(turn.who);
    const bool has_room = tasks_.contains(task) || tasks_.size() < most_;
    Times &times = has_room ? tasks_[task] : others_;
    const std::uint64_t ns = turn.end_ns - turn.begin_ns;
    const std::uint64_t saving = timeslice_ns ? saving_ns(turn, *timeslice_ns) : 0;
    times.ns += ns - saving;
    times.saving_ns += saving;
    if (turn.whole)
        times.slices.add(ns);
    if (!has_room)
        return;
    const auto [left, first] = left_.try_emplace(task, turn.end_ns);
    if (!first && turn.begin_ns > left->second)
        times.away_ns += turn.begin_ns - left->second;
    left->second = turn.end_ns;
}

void TaskTimes::lose() {
    left_.clear();
}

void TaskTimes::forget_if(const std::function<bool(const Holder &)> &ended) {
    std::erase_if(tasks_, [&](const auto &task) { return ended(task.first); });
    std::erase_if(left_, [&](const auto &left) { return !tasks_.contains(left.first); });
}

} // namespace nvdebug::exporter
