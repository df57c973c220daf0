// SPDX-License-Identifier: MIT OR GPL-2.0
#include "governor.hpp"

#include <algorithm>

namespace qos {
namespace {

/// Between looks: they cost time, too.
constexpr Ns shortest_look = ms;

} // namespace

Governor::Governor(Settings settings, std::vector<Goal> goals, Ns now)
    : settings_(settings), accounts_(goals.size()), ledgers_(goals.size()), waits_(goals.size()),
      levers_(goals.size()), seen_(goals.size()), begin_(now) {
    const bool hurried =
        std::ranges::any_of(goals, [](const Goal &goal) { return goal.aim != Aim::best_effort; });
    for (const Goal &goal : goals) {
        entrants_.push_back({goal, 0});
        caps_.push_back(goal.cap
                            ? std::optional(Cap{.part = *goal.cap,
                                                .cycle = cycle_of(*goal.cap, hurried, settings_),
                                                .at = now})
                            : std::nullopt);
        if (caps_.back())
            caps_.back()->credit = enough(*caps_.back(), settings_);
    }
    plan_ = next_epoch(entrants_, accounts_, {}, settings_);
    apply();
}

void Governor::set_tsgs(std::size_t tenant, std::int64_t tsgs) {
    changed_ = changed_ || entrants_[tenant].tsgs != tsgs;
    entrants_[tenant].tsgs = tsgs;
}

void Governor::add(const TenantTurn &turn) {
    // Twice: the turns of a round differ.
    if (const auto wait =
            demand_.add(turn, levers_[turn.tenant].timeslice,
                        2 * std::max(plan_.round, settings_.round()) + settings_.latency_slice))
        waits_[turn.tenant].add(*wait);
    if (caps_[turn.tenant])
        add_use(*caps_[turn.tenant], {turn.begin, turn.end});
    seen_[turn.tenant].used += turn.end - turn.begin;
    seen_[turn.tenant].turns += turn.ends;
}

void Governor::apply() {
    for (std::size_t n = 0; n < levers_.size(); n++)
        levers_[n] = {plan_.decisions[n].timeslice,
                      plan_.decisions[n].paused || (caps_[n] && caps_[n]->paused)};
}

bool Governor::needs_turns(Ns now) const {
    return now - begin_ >= settings_.epoch || settings_.scheme == Scheme::elastic ||
           std::ranges::any_of(caps_, [&](const auto &cap) {
               return cap && !cap->paused && now >= cap->at + qos::due(*cap, settings_);
           });
}

std::optional<EpochRecord> Governor::step(Ns now, bool seen) {
    // One that runs is looked at when its use is known.
    for (auto &cap : caps_)
        if (cap && (seen || cap->paused))
            look(*cap, now, settings_);
    std::optional<EpochRecord> record;
    if (seen && (now - begin_ >= settings_.epoch || is_over(entrants_, seen_, settings_))) {
        const auto taken = demand_.take(entrants_.size());
        plan_ = next_epoch(entrants_, accounts_, taken, settings_);
        accounts_ = plan_.accounts;
        record = EpochRecord{begin_, now, plan_.round, plan_.overcommitted, {}};
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            const Goal &goal = entrants_[n].goal;
            ledgers_[n].add(taken[n], progress_of(goal, taken[n], settings_.costs), now - begin_);
            record->tenants.push_back({taken[n], accounts_[n], ledgers_[n].balance(),
                                       is_kept(goal, ledgers_[n].balance())});
        }
        begin_ = now;
        seen_.assign(entrants_.size(), {});
        changed_ = false;
    } else if (changed_) {
        // Turns are divided anew among the tenants that are there; nothing is settled.
        plan_ = next_epoch(entrants_, accounts_, {}, settings_);
        changed_ = false;
    }
    apply();
    return record;
}

Ns Governor::due() const {
    Ns when = begin_ + settings_.epoch;
    for (const auto &cap : caps_)
        if (cap)
            when = std::min(when, cap->at + std::max(shortest_look, qos::due(*cap, settings_)));
    return when;
}

Ns Governor::credit(std::size_t tenant) const {
    return caps_[tenant] && !is_promised(entrants_[tenant].goal.aim) ? caps_[tenant]->credit
                                                                     : accounts_[tenant].credit;
}

} // namespace qos
