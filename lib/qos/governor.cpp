// SPDX-License-Identifier: MIT OR GPL-2.0
#include "governor.hpp"

#include <algorithm>

namespace qos {
namespace {

/// The shortest time between two looks at a cap, because looks cost time, too.
constexpr Ns shortest_look = ms;
/// The longest time until a change has reached the GPU.
constexpr Ns change_takes = 3 * ms;
/// A timeslice that is not known: no turn is longer.
constexpr Ns unknown_timeslice = 1000 * second;

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
    before_.emplace_back(unknown_timeslice);
    in_effect_.push_back(true);
    spans_.push_back(false);
    marked_.emplace_back();
    pauses_.emplace_back(Span{-change_takes, -change_takes});
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
        in_effect_[n] = old.in_effect_[was];
        spans_[n] = old.spans_[was];
        marked_[n] = old.marked_[was];
        pauses_[n] = old.pauses_[was];
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
    if (entrants_[tenant].tsgs == tsgs)
        return;
    changed_ = true;
    entrants_[tenant].tsgs = tsgs;
    for (Account &account : accounts_)
        forget_debt(account, settings_);
}

void Governor::add(const TenantTurn &turn) {
    // A change of timeslices may end a turn (measured on an H100: turns of 0.1 to 1 ms in place of
    // 3 ms; where epochs and rounds kept step, each epoch had one, and a share of 30 % got 28.9 %).
    const bool is_cut = turn.end >= changed_at_ && turn.end - changed_at_ <= change_takes;
    // The bound is two rounds, because the turns of a round differ.
    const Ns round = 2 * std::max(plan_.round, settings_.round()) + settings_.latency_slice;
    if (const auto wait = demand_.add(turn, slice_of(turn, is_cut), round))
        waits_[turn.tenant].add(*wait);
    periods_.add(turn, entrants_[turn.tenant].goal.aim == Aim::latency);
    if (caps_[turn.tenant])
        add_use(*caps_[turn.tenant], {turn.begin, turn.end});
    seen_[turn.tenant].used += turn.end - turn.begin;
    seen_[turn.tenant].turns += turn.ends;
}

/// Returns how long the turn would be if its timeslice had ended it; nullopt: a pause may have
/// ended it.
std::optional<SliceLength> Governor::slice_of(const TenantTurn &turn, bool is_cut) const {
    const Span &pause = pauses_[turn.tenant];
    const bool may_be_paused = turn.end >= pause.begin && turn.end <= pause.end + change_takes;
    // A promise counts in a pause for another tenant, too.
    if (may_be_paused && !is_paused_for_another(turn.tenant))
        return std::nullopt;
    // A turn that spans the beginning of the epoch may have the previous timeslice. The driver
    // rounds timeslices by less than 1 %, and its microsecond is longer by 2.4 %. A turn ends 103
    // us after its timeslice, or up to 190 us if much state is saved.
    constexpr Ns longest_end = 300 * us;
    const Ns timeslice = levers_[turn.tenant].timeslice,
             before = turn.begin <= begin_ + change_takes ? before_[turn.tenant] : timeslice;
    const Ns shorter = std::min(timeslice, before), longer = std::max(timeslice, before);
    return SliceLength{
        is_cut || may_be_paused ? 0 : shorter - shorter / 16,
        in_effect_[turn.tenant] ? longer + longer / 16 + longest_end : unknown_timeslice,
        longer - shorter <= longer / 8 && !may_be_paused, in_effect_[turn.tenant] ? shorter : 0};
}

/// Returns whether the plan pauses a tenant that has a promise.
bool Governor::is_paused_for_another(std::size_t tenant) const {
    return plan_.decisions[tenant].pause > 0 && is_promised(entrants_[tenant].goal.aim) &&
           !caps_[tenant];
}

/// Returns when a pause of the plan ends. A promised tenant on several GPUs is not paused on one of
/// them.
Ns Governor::pause_end(std::size_t tenant) const {
    const bool spans = spans_[tenant] && is_promised(entrants_[tenant].goal.aim);
    return begin_ + (spans ? 0 : plan_.decisions[tenant].pause);
}

void Governor::apply(Ns now) {
    std::int64_t services = 0;
    for (const Entrant &one : entrants_)
        services += one.goal.aim == Aim::latency ? one.tsgs : 0;
    pause_due_ = 0;
    for (std::size_t n = 0; n < levers_.size(); n++) {
        if (now < pause_end(n))
            pause_due_ = pause_due_ > 0 ? std::min(pause_due_, pause_end(n)) : pause_end(n);
        const Ns before = levers_[n].timeslice;
        const bool was_paused = levers_[n].paused;
        levers_[n] = {plan_.decisions[n].timeslice,
                      plan_.decisions[n].paused || (caps_[n] && caps_[n]->paused) ||
                          now < pause_end(n) ||
                          (periods_.holds() && entrants_[n].goal.aim == Aim::best_effort)};
        // A second service waits for the turns of the first one.
        if (periods_.has_period() && entrants_[n].goal.aim == Aim::latency && services == 1)
            levers_[n].timeslice = std::max(levers_[n].timeslice, Periods::service_slice);
        if (levers_[n].paused && !was_paused)
            pauses_[n].begin = now;
        if (levers_[n].paused || was_paused)
            pauses_[n].end = now;
        if (levers_[n].timeslice != before)
            changed_at_ = now;
    }
}

/// Returns how often a service has to come back until its neighbours are paused for a busy period; 0:
/// they may not be. They may if nothing is promised to them. A neighbour on several GPUs would wait
/// for its other ranks, unless the service is on several GPUs, too, and has its periods on all of
/// them. A service with a cap is left as it is, because its pauses in a period would count as use.
int Governor::returns_for_hold() const {
    bool has_service = false, does_service_span = false, does_neighbour_span = false;
    std::int64_t neighbours = 0;
    for (std::size_t n = 0; n < entrants_.size(); n++) {
        const Entrant &one = entrants_[n];
        if (one.tsgs == 0)
            continue;
        if (one.goal.aim == Aim::latency && !one.goal.cap) {
            has_service = true;
            does_service_span = does_service_span || spans_[n];
        } else if (one.goal.aim == Aim::best_effort) {
            neighbours += one.tsgs;
            does_neighbour_span = does_neighbour_span || spans_[n];
        } else {
            return 0;
        }
    }
    if (!has_service || (does_neighbour_span && !does_service_span) || neighbours == 0 ||
        neighbours > Periods::most_neighbours)
        return 0;
    return does_service_span ? Periods::returns_for_hold_on_several : Periods::returns_for_hold;
}

/// Returns whether a service has a request; empty: none is busy, and one of them makes no marks.
std::optional<bool> Governor::marks_of_services() const {
    std::optional<bool> busy = false;
    bool has_service = false;
    for (std::size_t n = 0; n < entrants_.size(); n++) {
        if (entrants_[n].tsgs == 0 || entrants_[n].goal.aim != Aim::latency)
            continue;
        if (marked_[n] == true)
            return true;
        has_service = true;
        if (!marked_[n])
            busy.reset();
    }
    return has_service ? busy : std::nullopt;
}

bool Governor::needs_turns(Ns now) const {
    return now - begin_ >= settings_.epoch || periods_.needs_turns(now) ||
           settings_.scheme == Scheme::elastic || std::ranges::any_of(caps_, [&](const auto &cap) {
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
            ledgers_[n].add(taken[n], progress_of(goal, taken[n], settings_.costs), now - begin_,
                            goal.cap ? second : window_of(accounts_[n].burst));
            const Balance &balance = ledgers_[n].balance();
            const Verdict verdict = judge(goal, ledgers_[n], accounts_[n].burst);
            record->tenants.push_back({taken[n], accounts_[n], balance, verdict != Verdict::missed,
                                       wanted_alone(balance.progress, balance.idle),
                                       verdict == Verdict::unseen, ledgers_[n].is_judged()});
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
    periods_.mark(marks_of_services());
    periods_.step(now, returns_for_hold(), seen);
    apply(now);
    return record;
}

Ns Governor::due() const {
    Ns when = std::min(begin_ + settings_.epoch, periods_.due());
    if (pause_due_ > 0)
        when = std::min(when, pause_due_);
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
