// SPDX-License-Identifier: MIT OR GPL-2.0
#include "windows.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nvqos {

using qos::Ns;

namespace {

/// A change of levers may end turns so long after it is in effect.
constexpr Ns effect_of_levers_takes = 3 * qos::ms;
/// Turns are kept for so long if they are not taken. The longest time between two looks at turns
/// that counts is shorter (qos::watch_before_windows).
constexpr Ns turns_are_kept = 5 * qos::second;
/// The longest time for which a tenant is judged (qos::window_of()).
constexpr Ns longest_second = 10 * qos::second;

} // namespace

void Windows::begin(std::map<std::string, WantedLever> present) {
    decide_ = true;
    levers_ = std::move(present);
}

void Windows::put(std::span<const qos::TenantLever> levers) {
    for (const auto &[tenant, lever] : levers) {
        WantedLever &own = levers_[tenant];
        own = {lever.timeslice ? lever.timeslice : own.timeslice, lever.paused};
    }
}

void Windows::forget_others(std::span<const qos::TenantOnGpu> present) {
    std::erase_if(levers_, [&](const auto &one) {
        return std::ranges::find(present, one.first, &qos::TenantOnGpu::name) == present.end();
    });
}

void Windows::end() {
    decide_ = false;
    levers_.clear();
}

std::optional<WantedLever> Windows::lever(const std::string &tenant) const {
    const auto at = levers_.find(tenant);
    return at == levers_.end() ? std::nullopt : std::optional(at->second);
}

/// Returns whether a turn ended because the task had no work.
bool Windows::gives_way(const Turn &one) {
    const qos::TenantTurn &turn = one.turn;
    const Ns begin = open_.task == turn.task ? open_.begin.value_or(turn.begin) : turn.begin;
    open_ = {turn.task, turn.ends ? std::nullopt : std::optional(begin)};
    // A new timeslice begins when it is set.
    const Ns length = turn.end - std::max(begin, one.changed_at);
    return turn.ends && length < one.slice - one.slice / 16 &&
           turn.end > one.changed_at + effect_of_levers_takes;
}

void Windows::add(const Turn &turn, const std::string &tenant, Ns begin, Ns end) {
    // Two readings of the clocks may differ by some microseconds.
    begin = std::max(begin, last_end_);
    last_end_ = end = std::max(begin, end);
    turns_.push_back({tenant, begin, end, gives_way(turn)});
    Seen &seen = seen_[tenant];
    if (const Ns wait = begin - seen.last_end;
        seen.last_end && (wait >= seen.longest_wait || begin - seen.waited_at > qos::second)) {
        seen.longest_wait = wait;
        seen.waited_at = begin;
    }
    seen.last_end = end;
    if (turns_.back().gave_way)
        seen.gave_way_at = end;
    if (turns_.front().end >= end - turns_are_kept)
        return;
    while (turns_.front().end < end - turns_are_kept)
        turns_.pop_front();
    forget_tenants(); // nobody takes turns
}

/// Forgets tenants without turns in the longest time for which one is judged.
void Windows::forget_tenants() {
    std::erase_if(
        seen_, [&](const auto &one) { return last_end_ - one.second.last_end > longest_second; });
}

std::optional<bool> Windows::got(const std::string &tenant, qos::Part part,
                                 const qos::Balance &second) const {
    const auto at = seen_.find(tenant);
    const auto is_recent = [&](std::optional<Ns> time) {
        return time && last_end_ - *time <= second.time;
    };
    if (at == seen_.end() || !is_recent(at->second.last_end) || is_recent(at->second.gave_way_at))
        return std::nullopt;
    const Ns wait = std::min(at->second.longest_wait, qos::WindowSettings().longest_cycle);
    return second.used + qos::scaled(wait, part, qos::whole) >=
           qos::scaled(second.time, part - qos::point, qos::whole);
}

std::vector<qos::WindowTurn> Windows::take_turns() {
    forget_tenants();
    const auto taken = std::exchange(turns_, {});
    return {std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end())};
}

} // namespace nvqos
