// SPDX-License-Identifier: MIT OR GPL-2.0
#include "governor.hpp"

#include <algorithm>
#include <limits>

namespace qos {
namespace {

/// The shortest time between two looks at a cap, because looks cost time, too.
constexpr Ns shortest_look = ms;
/// The longest time until a change has reached the GPU.
constexpr Ns change_takes = 3 * ms;

/// Returns whether tenants wait for their parts beside a cap.
bool is_hurried(const std::vector<Goal> &goals) {
    return std::ranges::any_of(goals,
                               [](const Goal &goal) { return goal.aim != Aim::best_effort; });
}

} // namespace

Governor::Governor(Settings settings, const std::vector<Goal> &goals, Ns now, Planner planner)
    : planner_(std::move(planner)), settings_(settings), usual_pause_(settings.costs.pause),
      begin_(now) {
    for (const Goal &goal : goals)
        enter(goal, is_hurried(goals), now);
    plan_ = make_plan({});
    apply(now);
}

Plan Governor::make_plan(std::vector<Observation> seen) const {
    return planner_(GpuView{.settings = settings_,
                            .entrants = entrants_,
                            .accounts = accounts_,
                            .seen = std::move(seen)});
}

void Governor::enter(const Goal &goal, bool hurried, Ns now) {
    entrants_.push_back({goal, 0});
    accounts_.emplace_back();
    ledgers_.emplace_back();
    waits_.emplace_back();
    levers_.emplace_back();
    before_.emplace_back(std::numeric_limits<Ns>::max());
    seen_.emplace_back();
    caps_.push_back(goal.cap ? std::optional(Cap{.part = *goal.cap,
                                                 .cycle = cycle_of(*goal.cap, hurried, settings_),
                                                 .at = now})
                             : std::nullopt);
    if (caps_.back())
        caps_.back()->credit = enough(*caps_.back(), settings_);
}

void Governor::set_goals(const std::vector<Goal> &goals,
                         std::span<const std::optional<std::size_t>> before, Ns now) {
    Governor old = std::move(*this);
    Settings settings = old.settings_;
    settings.costs.pause = old.usual_pause_;
    *this = Governor(settings, {}, old.begin_, old.planner_);
    std::vector<std::optional<std::size_t>> numbers(old.entrants_.size());
    for (std::size_t n = 0; n < goals.size(); n++) {
        enter(goals[n], is_hurried(goals), now);
        if (!before[n])
            continue;
        const std::size_t was = *before[n];
        entrants_[n].tsgs = old.entrants_[was].tsgs;
        accounts_[n] = old.accounts_[was];
        ledgers_[n] = std::move(old.ledgers_[was]);
        waits_[n] = old.waits_[was];
        levers_[n] = old.levers_[was];
        before_[n] = old.before_[was];
        seen_[n] = old.seen_[was];
        if (caps_[n]) {
            const Ns cycle = caps_[n]->cycle;
            caps_[n] = std::move(old.caps_[was]);
            caps_[n]->cycle = cycle;
        }
        numbers[was] = n;
    }
    demand_ = std::move(old.demand_);
    demand_.renumber(numbers);
    plan_ = make_plan({});
    apply(now);
}

void Governor::set_pause(Ns takes) {
    for (const auto &cap : caps_)
        if (cap && cap->part < whole)
            takes = std::min(takes, longest_pause(*cap));
    settings_.costs.pause = std::max(takes, usual_pause_);
}

void Governor::set_tsgs(std::size_t tenant, std::int64_t tsgs) {
    changed_ = changed_ || entrants_[tenant].tsgs != tsgs;
    entrants_[tenant].tsgs = tsgs;
}

void Governor::add(const TenantTurn &turn) {
    // A change of timeslices may end a turn (measured on an H100: turns of 0.1 to 1 ms in place of
    // 3 ms; where epochs and rounds kept step, each epoch had one, and a share of 30 % got 28.9 %).
    const bool is_cut = turn.end >= changed_at_ && turn.end - changed_at_ <= change_takes;
    // A turn that spans the start of the epoch may still have the previous timeslice, so the
    // smaller one is used. The driver rounds timeslices by less than 1 %, and changes of less than
    // 1 % are not requested.
    const Ns timeslice = std::min(levers_[turn.tenant].timeslice, before_[turn.tenant]);
    // The bound is two rounds, because the turns of a round differ.
    if (const auto wait =
            demand_.add(turn, is_cut ? 0 : timeslice - timeslice / 16,
                        2 * std::max(plan_.round, settings_.round()) + settings_.latency_slice))
        waits_[turn.tenant].add(*wait);
    if (caps_[turn.tenant])
        add_use(*caps_[turn.tenant], {turn.begin, turn.end});
    seen_[turn.tenant].used += turn.end - turn.begin;
    seen_[turn.tenant].turns += turn.ends;
}

void Governor::apply(Ns now) {
    for (std::size_t n = 0; n < levers_.size(); n++) {
        const Ns before = levers_[n].timeslice;
        levers_[n] = {plan_.decisions[n].timeslice,
                      plan_.decisions[n].paused || (caps_[n] && caps_[n]->paused)};
        if (levers_[n].timeslice != before)
            changed_at_ = now;
    }
}

bool Governor::needs_turns(Ns now) const {
    return now - begin_ >= settings_.epoch || settings_.scheme == Scheme::elastic ||
           std::ranges::any_of(caps_, [&](const auto &cap) {
               return cap && !cap->paused && now >= cap->at + qos::due(*cap, settings_);
           });
}

std::optional<EpochRecord> Governor::step(Ns now, bool seen) {
    // A task that runs is judged by its cap only when its use is known.
    for (auto &cap : caps_)
        if (cap && (seen || cap->paused))
            look(*cap, now, settings_);
    std::optional<EpochRecord> record;
    if (seen && (now - begin_ >= settings_.epoch || is_over(entrants_, seen_, settings_))) {
        const auto taken = demand_.take(entrants_.size());
        plan_ = make_plan(taken);
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
        for (std::size_t n = 0; n < levers_.size(); n++)
            before_[n] = levers_[n].timeslice;
    } else if (changed_) {
        // Turns are divided anew among the tenants that are there; nothing is settled.
        plan_ = make_plan({});
        changed_ = false;
    }
    apply(now);
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
