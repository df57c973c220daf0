// SPDX-License-Identifier: MIT OR GPL-2.0
#include "demand.hpp"

#include <algorithm>

namespace qos {
namespace {

constexpr std::size_t most_bursts = 16; ///< remembered of each tenant
/// If a task waits, its turn begins so soon after the end of the previous one: 84 us, or longer if
/// a switch is slow.
constexpr Ns longest_switch = 300 * us;
/// The turn that another task's work ends takes so long until the other task has the engine: it
/// ends 103 us late or more, and the switch takes 84 us.
constexpr Ns least_until_next = 180 * us;

/// The work that a turn loses if its timeslice ends it: it makes no progress for 123 us at the end of
/// the turn, and for 62 us when it goes on. Both are for an H100 (docs/qos-thinking.md), where five
/// kinds of kernels lost less (Costs::lost). So a goal that is kept with this loss was kept.
constexpr Ns lost_at_end = 185 * us;
/// If a pause ends the turn of another task beyond its timeslice, the tenant has its turn so much
/// later: 123 us until that turn ends, and 84 us for the switch.
constexpr Ns most_until_next = 210 * us;
/// So many bursts show whether they have all lengths.
constexpr std::size_t many = 64;

/// Returns whether a turn ended as a later one of its timeslices does. While no other task has work, a
/// timeslice is followed by the next one, and a context without work leaves as soon as another comes. It
/// is not said of timeslices that are so short that most turns would end so.
bool is_cut_later(Ns held, Ns timeslice) {
    constexpr Ns late = 200 * us; // 107 us on an H200, and up to 190 us if much state is saved
    if (timeslice < 3 * late / 2)
        return false;
    const Ns times = held / timeslice; // the driver's microsecond is longer by 2.4 %
    return times > 1 && held - times * timeslice <= times * timeslice / 32 + late;
}

void remember(std::deque<Ns> &last, Ns time, std::size_t most = most_bursts) {
    last.push_back(time);
    if (last.size() > most)
        last.pop_front();
}

/// Returns the value of which so many are larger.
Ns from_top(const std::deque<Ns> &all, std::size_t larger) {
    std::vector<Ns> sorted(all.begin(), all.end());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(larger);
    std::ranges::nth_element(sorted, at, std::ranges::greater());
    return *at;
}

Ns times_in(Ns burst, Ns usual) {
    return std::max<Ns>(1, (burst + usual / 2) / usual);
}

/// Returns whether a burst is one of the usual length, or some of them with pauses that no turn shows.
bool is_of_bursts(Ns burst, Ns usual) {
    return usual > 0 && std::abs(burst - times_in(burst, usual) * usual) <= usual / 8;
}

/// Returns the usual length of bursts if three quarters of them have it; 0: they have other ones. Such
/// bursts have no rest in them, because other tasks come at any time. Single bursts seem shorter where
/// a timeslice was just changed.
Ns usual_burst(const std::deque<Ns> &bursts) {
    if (bursts.empty())
        return 0;
    const Ns usual = from_top(bursts, bursts.size() * 3 / 4);
    const auto alike =
        std::ranges::count_if(bursts, [&](Ns one) { return is_of_bursts(one, usual); });
    return 4 * static_cast<std::size_t>(alike) >= 3 * bursts.size() ? usual : 0;
}

/// Returns whether bursts have all lengths, from a few small kernels on.
bool is_just_in_time(const std::deque<Ns> &bursts) {
    constexpr Ns small = 500 * us;
    constexpr std::size_t least_bursts = 5;
    if (bursts.size() < least_bursts)
        return false;
    const Ns shorter = from_top(bursts, bursts.size() * 4 / 5);
    return shorter < small && from_top(bursts, bursts.size() / 5) > 3 * shorter;
}

} // namespace

Demand::Counted &Demand::of(std::size_t tenant) {
    if (tenants_.size() <= tenant)
        tenants_.resize(tenant + 1);
    return tenants_[tenant];
}

/// Returns how much of that time is new.
Ns Demand::cover(std::size_t tenant, Ns begin, Ns end) {
    Counted &counted = of(tenant);
    const Ns idle = begin - counted.until;
    if (idle > 0 && idle <= longest_pause && counted.until > 0) {
        counted.now.idle += idle;
        const Range pause{std::max<Ns>(0, idle - most_until_next),
                          std::max<Ns>(0, idle - least_until_next)};
        counted.now.bounds.paused.add(pause, 1);
        remember(counted.seen_pauses, pause.least);
    }
    const Ns covered = std::max<Ns>(0, end - std::max(begin, counted.until));
    counted.now.backlogged += covered;
    counted.until = std::max(counted.until, end);
    return covered;
}

/// Returns from when on a task may have wanted its turn that begins at @p begin.
Ns Demand::wanted_from(const Wait &wait, const Task &task, Ns begin, Ns round) const {
    if (wait.is_certain && begin - wait.since <= round)
        return wait.since;
    // No task had the engine in between, or the other task would have had it for longer.
    if (!last_ || last_->task == task || last_->end <= wait.since ||
        begin - last_->end > longest_switch || last_->went_on)
        return begin;
    return std::max(wait.since, tasks_.at(last_->task).ended_before);
}

/// Counts the time in which the task before @p next may have stayed without work until that came.
void Demand::note_stay(const TenantTurn &next, const Wait &wait) {
    if (!last_ || last_->task == Task{next.tenant, next.task})
        return;
    Counted &before = of(last_->task.first);
    if (!wait.is_certain && !last_->went_on)
        before.now.bounds.rested.most += rest_between_bursts(before, last_->held);
    if (last_->burst == 0)
        return;
    const Ns burst = std::exchange(last_->burst, 0);
    const bool waited = wait.is_certain || next.begin - wait.since > longest_pause_of(next.tenant);
    if (wait.is_certain)
        remember(before.seen_bursts, burst);
    else
        before.now.bounds.rested.most += longest_rest(before, burst, last_->held);
    if (waited) {
        remember(before.whole, burst);
        return;
    }
    // The shortest of the last bursts certainly was work, and so was each burst at whose end another
    // task waited.
    Ns work = before.bursts.empty() ? burst : from_top(before.bursts, before.bursts.size() - 1);
    if (!before.whole.empty())
        work = std::max(work, from_top(before.whole, 0));
    before.now.stayed += std::clamp<Ns>(burst - work, 0, last_->held);
}

/// Returns how long a tenant may have had no work between the bursts of a turn that took @p held, while
/// no other task had work.
Ns Demand::rest_between_bursts(const Counted &counted, Ns held) {
    if (counted.bursts.empty() || counted.bounds.empty())
        return 0;
    const Ns burst = std::max<Ns>(1, from_top(counted.bursts, counted.bursts.size() / 2)),
             pauses = 4 * held / (5 * burst); // a burst may be a quarter longer
    return std::min(pauses * *std::ranges::min_element(counted.bounds),
                    std::max<Ns>(0, held - burst));
}

/// Returns how long a tenant may have had no work at the end of a burst, in its last turn, which took
/// @p held. That is not longer than its pauses, if these are known: where two tenants come back in
/// turn, each pause begins in the turn before it.
Ns Demand::longest_rest(const Counted &counted, Ns burst, Ns held) {
    Ns work = 0;
    if (const Ns usual = usual_burst(counted.bursts); is_of_bursts(burst, usual))
        work = times_in(burst, usual) * usual;
    else if (counted.seen_bursts.size() > 1)
        work = *std::ranges::min_element(counted.seen_bursts);
    const Ns longest = work == 0 || counted.bounds.empty()
                           ? longest_pause
                           : *std::ranges::min_element(counted.bounds);
    return std::min(std::clamp<Ns>(burst - work, 0, held), longest);
}

/// Returns whether the tenant had work at the end of its turns beyond their timeslices.
bool Demand::works_to_the_end(const Counted &counted) {
    constexpr std::int64_t least_turns = 4;
    return counted.longer >= least_turns && 8 * counted.cut_later >= 7 * counted.longer;
}

/// Counts a time after the task gave way, in which it may have paused.
/// @param most of that time, until it had its turn
/// @param may_be_cut its timeslice may have ended its turn, so that it did not pause
void Demand::bound_pause(Counted &counted, Ns most, bool may_be_cut) {
    Range pause{0, most};
    if (!counted.bounds.empty())
        pause.most = std::min(pause.most, 2 * *std::ranges::min_element(counted.bounds));
    // Its other pauses, of which the ends were seen, are about as long.
    constexpr std::size_t least_pauses = 4;
    if (counted.seen_pauses.size() >= least_pauses && !may_be_cut) {
        Ns sum = 0;
        for (const Ns one : counted.seen_pauses)
            sum += one;
        const Ns mean = sum / static_cast<Ns>(counted.seen_pauses.size()),
                 shortest = *std::ranges::min_element(counted.seen_pauses);
        if (pause.most >= mean)
            pause = {mean * 9 / 10,
                     std::min(pause.most, mean * 11 / 10 + most_until_next - least_until_next)};
        else if (pause.most >= shortest)
            pause.least = shortest;
    }
    counted.now.bounds.paused.add(pause, 1);
}

/// Returns after which time a task that gave way waits for its turn, as its pauses are shorter.
Ns Demand::longest_pause_of(std::size_t tenant) {
    const Counted &counted = of(tenant);
    if (counted.bounds.empty())
        return longest_pause;
    return 2 * *std::ranges::min_element(counted.bounds) + longest_switch;
}

/// Remembers how long a pause took at most.
void Demand::note_pause(const TenantTurn &next, const Wait &wait) {
    Counted &counted = of(next.tenant);
    const Ns pause = std::max<Ns>(0, next.begin - wait.since - least_until_next);
    remember(counted.pauses, pause);
    // If the other task went on, all of that time was a pause.
    if (last_ && last_->went_on)
        std::erase_if(counted.bounds, [&](Ns bound) { return bound < pause; });
}

/// Ends a turn without knowing how it ended.
void Demand::end_unknown_turn(const TenantTurn &turn, Past &past) {
    past.knows = false;
    past.work = 0;
    last_ = Last{{turn.tenant, turn.task}, turn.end, false, 0, 0};
}

void Demand::end_turn(const TenantTurn &turn, Past &past, const SliceLength &slice) {
    Counted &counted = of(turn.tenant);
    const bool went_on = past.held > slice.most, gave_way = past.held < slice.least;
    if (!went_on && !gave_way && !slice.is_sure) {
        past.wait = Wait{turn.end, false, false};
        counted.now.bounds.lost.most += lost_at_end;
        end_unknown_turn(turn, past);
        return;
    }
    past.wait = Wait{turn.end, !went_on && !gave_way, slice.least > 0};
    counted.now.bounds.lost.add(
        {past.wait->is_certain && past.wait->is_sure ? lost_at_end : 0, gave_way ? 0 : lost_at_end},
        1);
    counted.longer += went_on;
    counted.cut_later += went_on && is_cut_later(past.held, slice.timeslice);
    // It is not known how much of a turn that went on was work.
    past.work += went_on ? 0 : past.held;
    const Ns burst = gave_way && past.knows ? past.work : 0;
    if (burst > 0) {
        remember(counted.bursts, burst);
        remember(counted.many_bursts, burst, many);
    }
    // A tenant whose work does not end any more makes no pauses.
    if (!gave_way && !counted.bursts.empty() && past.work > 4 * from_top(counted.bursts, 0)) {
        counted.bursts.clear();
        counted.whole.clear();
        counted.pauses.clear();
        counted.bounds.clear();
        counted.seen_pauses.clear();
        counted.seen_bursts.clear();
        counted.many_bursts.clear();
    }
    if (gave_way || went_on || slice.least == 0) {
        past.work = 0;
        past.knows = gave_way;
    }
    last_ = Last{{turn.tenant, turn.task}, turn.end, went_on, burst, past.held};
}

std::optional<Ns> Demand::add(const TenantTurn &turn, std::optional<SliceLength> slice, Ns round) {
    std::optional<Ns> waited;
    const Task task{turn.tenant, turn.task};
    Past &past = tasks_[task];
    if (past.wait && !past.is_on) {
        const Wait wait = *past.wait;
        const Ns from = wanted_from(wait, task, turn.begin, round);
        const Ns waited_new = cover(turn.tenant, from, turn.begin);
        if (!wait.is_certain || !wait.is_sure)
            bound_pause(of(turn.tenant), std::max<Ns>(0, waited_new - least_until_next),
                        wait.is_certain || from != wait.since);
        if (wait.is_certain && from == wait.since)
            waited = turn.begin - from;
        note_stay(turn, wait);
        if (!wait.is_certain && turn.begin - wait.since <= longest_pause)
            note_pause(turn, wait);
    } else if (!past.is_on) {
        // It is not known what the task did before.
        Counted &counted = of(turn.tenant);
        counted.until = std::max(counted.until, turn.begin);
    }
    past.wait.reset();
    cover(turn.tenant, turn.begin, turn.end);
    Observation &now = of(turn.tenant).now;
    now.used += turn.end - turn.begin;
    if (slice)
        now.alone += std::clamp<Ns>(past.held + turn.end - turn.begin - slice->most, 0,
                                    turn.end - turn.begin);
    past.held += turn.end - turn.begin;
    past.is_on = !turn.ends;
    if (!turn.ends)
        return waited;
    now.turns++;
    past.ended_before = std::exchange(past.ended, turn.end);
    if (slice) {
        end_turn(turn, past, *slice);
    } else {
        end_unknown_turn(turn, past);
    }
    past.held = 0;
    // Contexts that do not come back are forgotten.
    std::erase_if(tasks_, [&](const auto &one) {
        return !one.second.is_on && turn.end - one.second.ended > std::max(round, longest_pause);
    });
    return waited;
}

void Demand::lose() {
    tasks_.clear();
    last_.reset();
}

void Demand::renumber(std::span<const std::optional<std::size_t>> now) {
    std::map<Task, Past> moved;
    for (const auto &[task, past] : tasks_)
        if (task.first < now.size() && now[task.first])
            moved.emplace(Task{*now[task.first], task.second}, past);
    tasks_ = std::move(moved);
    last_.reset();
    const std::vector<Counted> before = std::move(tenants_);
    tenants_.clear();
    for (std::size_t n = 0; n < before.size() && n < now.size(); n++)
        if (now[n])
            of(*now[n]) = before[n];
}

std::vector<Observation> Demand::take(std::size_t tenants) {
    std::vector<Observation> taken(tenants);
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        Counted &counted = tenants_[n];
        if (counted.bursts.size() > 1 && !counted.pauses.empty()) {
            counted.now.burst = from_top(counted.bursts, 1);
            counted.bounds.push_back(from_top(counted.pauses, counted.pauses.size() * 3 / 4));
            if (counted.bounds.size() > kept_bounds)
                counted.bounds.pop_front();
            counted.now.pause = *std::ranges::min_element(counted.bounds);
        }
        Bounds &bounds = counted.now.bounds;
        bounds.just_in_time = is_just_in_time(counted.many_bursts);
        if (counted.now.burst > 0)
            bounds.rested.most += counted.now.idle_alone() - counted.now.stayed;
        else if (!works_to_the_end(counted))
            bounds.open = counted.now.alone;
        if (n < tenants)
            taken[n] = counted.now;
        counted.now = {};
        counted.longer = counted.cut_later = 0;
    }
    return taken;
}

} // namespace qos
