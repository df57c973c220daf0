// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How an epoch is divided among tenants: the length of the round, the turns of each tenant in it,
/// and pauses of the others. controller.hpp says why turns are as they are.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "account.hpp"

namespace qos {

/// A tenant waits for so many epochs until others are paused for it.
inline constexpr std::int64_t patience = 2;

inline std::int64_t tsgs_of(const Entrant &entrant) {
    return std::max<std::int64_t>(entrant.tsgs, 1);
}

inline bool is_here(const Entrant &entrant) {
    return entrant.tsgs > 0;
}

/// How far a tenant that thinks may stay below its share for a time, so that bursts of another one
/// are not cut.
inline constexpr Part bursts_allowance = 2 * point / 10;

/// The shortest timeslice beside a tenant that thinks. A shorter turn makes no progress: 62 us pass
/// before work goes on that was interrupted.
inline constexpr Ns shortest_beside_bursts = 200 * us;

/// Returns a timeslice in which a burst of that length ends, also if it is a little longer.
constexpr Ns slice_for(Ns burst) {
    return burst + burst / 8;
}

/// Returns in how many turns of a length a burst is divided. A turn may be a third too short: then
/// it is lengthened.
constexpr Ns turns_for(Ns burst, Ns turn) {
    return std::max<Ns>(1, (burst + turn * 2 / 3) / std::max<Ns>(turn, 1));
}

/// The length of the round, and the part of it that each tenant has.
class EpochDivision {
  public:
    EpochDivision(std::span<const Entrant> entrants, std::span<const Account> accounts,
                  const Settings &settings)
        : entrants_(entrants), accounts_(accounts), settings_(settings), parts_(entrants.size()),
          turns_(entrants.size()) {
        std::vector<Entrant> here;
        for (const Entrant &entrant : entrants) {
            if (is_here(entrant) && entrant.goal.aim != Aim::latency) {
                here.push_back(entrant);
                tsgs_ += entrant.tsgs;
            }
            latency_ = latency_ || (is_here(entrant) && entrant.goal.aim == Aim::latency);
        }
        const auto round = round_for(here, settings);
        overcommitted_ = is_too_much_ = !round || *round > settings.longest_round();
        round_ = latency_ ? round_beside_service(here, settings) : planned_round(here, settings);
        if (!latency_) {
            find_alone();
            fit_round_to_bursts();
            pause_promised();
        }
        divide();
        for (std::size_t n = 0; n < entrants.size(); n++)
            turns_[n] = scaled(round_, parts_[n], whole) / tsgs_of(entrants[n]);
        if (latency_)
            share_with_service();
        else
            fit_turns_to_bursts();
    }

    Part part(std::size_t n) const { return parts_[n]; }
    Ns round() const { return round_; }
    bool overcommitted() const { return overcommitted_; }

    Ns timeslice(std::size_t n) const {
        const Entrant &entrant = entrants_[n];
        if (entrant.goal.aim == Aim::latency)
            return std::min(settings_.latency_slice, service_slice_);
        if (entrant.goal.aim == Aim::timeslice)
            return entrant.goal.slice;
        return std::clamp(turns_[n] - settings_.costs.rest, settings_.shortest, settings_.longest);
    }

    /// Returns whether a tenant that thinks wants more than the shortest turns of the others leave
    /// it.
    bool is_tight(std::size_t n) const {
        if (!is_fitted(n))
            return false;
        if (has_short_bursts(n))
            return alone_ == n && wanted(n) > most_by_turns(n);
        const Account &account = accounts_[n];
        // Its pauses are seen, so that shorter turns of the others do not make it wait less.
        const bool is_seen = account.idle > 0 && scaled(2 * account.idle, account.burst,
                                                        account.recent + 1) >= account.pause;
        const bool is_whole = turns_for(account.burst, turns_[n]) == 1;
        return scaled(all_bursts(n), whole, busy_part(n)) <= shortest_round_with(n) ||
               (is_seen && is_whole && wanted(n) > most_by_turns(n));
    }

    /// Returns for which part of the epoch the others have to be paused, so that a tenant which
    /// thinks gets what it wants.
    Part pause_for(std::size_t n) const { return needed_pause(n, most_by_turns(n)); }

    /// Returns the tenant that has its part while the others are paused, because its bursts are too
    /// short for turns.
    std::optional<std::size_t> alone() const { return alone_; }

    /// Returns for which part of the epoch promised tenants are paused for alone(). They have their
    /// parts in the rest of it.
    Part pause_of_promised() const { return pause_of_promised_; }

  private:
    static constexpr Part longest_pause = 90 * point; ///< the others are not to stand still

    bool is_fitted(std::size_t n) const {
        return is_here(entrants_[n]) && is_promised(entrants_[n].goal.aim) && thinks(accounts_[n]);
    }

    /// Returns whether turns as long as a tenant's bursts need would lose a third of the time at their
    /// ends. In long pauses between bursts the others have longer turns.
    bool has_short_bursts(std::size_t n) const {
        if (!is_fitted(n) || latency_)
            return false;
        const Ns lost = tsgs_ * (settings_.costs.lost + settings_.costs.change);
        return std::max(scaled(all_bursts(n), whole, busy_part(n)), cycle(n) + accounts_[n].pause) <
               3 * lost;
    }

    /// Returns for which part of the epoch the others have to be paused for a tenant that has such a
    /// part of the time by turns.
    Part needed_pause(std::size_t n, Part by_turns) const {
        const Part alone = alone_part(n);
        if (wanted(n) <= by_turns)
            return 0;
        return alone <= by_turns
                   ? longest_pause
                   : std::min(longest_pause, scaled(wanted(n) - by_turns, whole, alone - by_turns));
    }

    /// Finds the tenant with short bursts that needs most of the time alone.
    void find_alone() {
        Part most = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            if (!has_short_bursts(n))
                continue;
            const Part needed = scaled(wanted(n), whole, alone_part(n));
            if (needed > most) {
                most = needed;
                alone_ = n;
            }
        }
    }

    /// Decides how long promised tenants are paused for the one with short bursts.
    void pause_promised() {
        constexpr Part late = 2 * point; // they have their first turn some time after the pause
        if (!alone_ || accounts_[*alone_].tight <= patience)
            return;
        const Ns besides = all_bursts(*alone_) + switching(tsgs_, settings_.costs);
        const auto of_round = [&](Ns time) { return scaled(time, whole, round_); };
        Part needed = of_round(besides),
             most = needed_pause(*alone_, of_round(all_bursts(*alone_)));
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            if (n == *alone_ || !is_here(entrants_[n]) || !is_promised(entrants_[n].goal.aim))
                continue;
            const Part part = wanted(n) + lost(n) + late;
            needed += part;
            // Its bursts end its turns, too.
            if (thinks(accounts_[n]))
                most =
                    std::min(most, whole - scaled(part, std::max(cycle(n), all_bursts(n) + besides),
                                                  all_bursts(n)));
        }
        pause_of_promised_ = std::max<Part>(0, std::min(most, whole - needed));
    }

    /// Returns the part of the time that a tenant which thinks uses alone.
    Part alone_part(std::size_t n) const {
        return scaled(accounts_[n].burst, whole, accounts_[n].burst + accounts_[n].pause);
    }

    /// Returns the time from one burst of a tenant to the next one, if it has the GPU as soon as it
    /// wants it.
    Ns cycle(std::size_t n) const {
        return accounts_[n].burst + accounts_[n].pause + 2 * settings_.costs.change +
               settings_.costs.rest;
    }

    /// Returns the part of the next epoch that a tenant is to have.
    Part wanted(std::size_t n) const {
        Goal goal = entrants_[n].goal;
        if (is_fitted(n) && goal.aim == Aim::share)
            goal.part = part_to_reach(goal, accounts_[n]);
        return wanted_part(goal, accounts_[n], settings_);
    }

    /// Returns the part of the time but its pauses that a tenant which thinks is to have.
    Part busy_part(std::size_t n) const {
        constexpr Part most = 99 * point;
        const Account &account = accounts_[n];
        const Part idle = scaled(wanted(n), account.idle, account.recent + 1); // of all the time
        return idle + wanted(n) >= most ? most
                                        : std::max<Part>(1, scaled(wanted(n), whole, whole - idle));
    }

    /// Returns the part of the round that a share loses at the ends of its turns, as far as it
    /// counts.
    Part lost(std::size_t n) const {
        const Ns ends = tsgs_of(entrants_[n]) * settings_.costs.lost;
        return entrants_[n].goal.aim == Aim::share ? repaid_of_turns(ends, round_) * whole / round_
                                                   : 0;
    }

    Ns all_bursts(std::size_t n) const {
        return tsgs_of(entrants_[n]) * (accounts_[n].burst + settings_.costs.rest);
    }

    /// Returns what the others take of a round beside a tenant that thinks, if their turns are as
    /// short as possible and their promised parts fit.
    Ns shortest_round_with(std::size_t thinker) const {
        Ns besides = switching(tsgs_, settings_.costs) + all_bursts(thinker);
        Part promised = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            if (!is_here(entrants_[n]) || n == thinker)
                continue;
            if (is_promised(entrants_[n].goal.aim))
                promised += wanted(n);
            else
                besides += std::max(least_of(entrants_[n].goal, tsgs_of(entrants_[n]), settings_),
                                    tsgs_of(entrants_[n]) *
                                        (shortest_beside_bursts + settings_.costs.rest));
        }
        return scaled(besides, whole, std::max(whole - promised, 5 * point));
    }

    /// Returns the most that a tenant gets that thinks, without pauses of the others. Turns are not
    /// shortened beside a tenant that has its part alone.
    Part most_by_turns(std::size_t n) const {
        if (alone_)
            return scaled(used_turns(n), whole, std::max(used_round(), cycle(n)));
        return scaled(tsgs_of(entrants_[n]) * accounts_[n].burst, whole,
                      std::max(shortest_round_with(n), cycle(n)));
    }

    /// Returns what a tenant's turns take of a round. Bursts end them early.
    Ns used_turns(std::size_t n) const {
        const Ns turn = thinks(accounts_[n]) ? std::min(accounts_[n].burst, turns_[n]) : turns_[n];
        return is_here(entrants_[n]) ? tsgs_of(entrants_[n]) * turn : 0;
    }

    Ns used_round() const {
        Ns round = switching(tsgs_, settings_.costs);
        for (std::size_t n = 0; n < entrants_.size(); n++)
            round += used_turns(n);
        return round;
    }

    /// Makes the round so long that the burst of a tenant which thinks is its part of the round.
    void fit_round_to_bursts() {
        std::optional<Ns> fitted;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            if (!is_fitted(n) || has_short_bursts(n))
                continue;
            const Ns round = scaled(all_bursts(n), whole, std::max<Part>(busy_part(n), 1)),
                     pieces = (round + settings_.longest_round() - 1) / settings_.longest_round();
            // A long burst loses little where a timeslice cuts it.
            if (pieces > 2)
                continue;
            const Ns possible = std::max(round / pieces, shortest_round_with(n));
            fitted = std::min(fitted.value_or(possible), possible);
        }
        if (fitted)
            round_ = std::min(*fitted, settings_.longest_round());
    }

    /// Gives tenants that think turns in which a burst ends, or an equal part of it.
    void fit_turns_to_bursts() {
        bool fits = false;
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (is_fitted(n)) {
                fits = true;
                const Ns burst = accounts_[n].burst + settings_.costs.rest;
                turns_[n] = std::max(turns_[n], slice_for(burst / turns_for(burst, turns_[n])));
                // Its bursts end in any turn. A long one shows that they do.
                if (has_short_bursts(n))
                    turns_[n] = std::max(turns_[n], round_ / 2);
            }
        lengthen_to_look();
        const bool shortens = shortens_to_look();
        for (std::size_t n = 0; n < entrants_.size() && fits; n++)
            if (shortens && entrants_[n].goal.aim == Aim::best_effort)
                turns_[n] = settings_.shortest + settings_.costs.rest;
            else if (is_here(entrants_[n]) && entrants_[n].goal.aim == Aim::best_effort)
                turns_[n] = std::max({turns_[n], shortest_beside_bursts + settings_.costs.rest,
                                      thinks(accounts_[n]) && may_end_bursts(n)
                                          ? slice_for(accounts_[n].burst + settings_.costs.rest)
                                          : 0});
    }

    /// Returns whether the others have the shortest turns for this one of eight epochs, in which
    /// they make no progress. If a tenant gets too little beside the shortest useful turns, and
    /// these do not show how short its pauses are, it would have the GPU alone for longer than it
    /// needs, because it is not seen how much of that time is work.
    bool shortens_to_look() const {
        constexpr Ns longest_bound = 2 * shortest_beside_bursts;
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (is_fitted(n) && accounts_[n].tight > 0 && accounts_[n].epochs % 8 == 7 &&
                (alone_ == n || (accounts_[n].pause <= longest_bound &&
                                 8 * accounts_[n].pause > accounts_[n].burst)))
                return true;
        return false;
    }

    /// Lengthens turns for two of eight epochs where a promised tenant seems to have no pauses and
    /// another one has some. Where their phases happen to fit, each turn ends as its timeslice
    /// does, although the tenant has long been idle. A longer timeslice shows that.
    void lengthen_to_look() {
        const auto other_thinks = [&](std::size_t n) {
            for (std::size_t other = 0; other < entrants_.size(); other++)
                if (other != n && is_here(entrants_[other]) && thinks(accounts_[other]))
                    return true;
            return false;
        };
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (is_promised(entrants_[n].goal.aim) && !thinks(accounts_[n]) &&
                accounts_[n].epochs % 8 >= 6 && other_thinks(n))
                turns_[n] *= 2;
    }

    /// Returns whether all promised parts are kept if a tenant without a promise has turns in which
    /// its bursts end.
    bool may_end_bursts(std::size_t other) const {
        const Ns longer =
            round_ + std::max<Ns>(0, all_bursts(other) - turns_[other] * tsgs_of(entrants_[other]));
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            if (!is_here(entrants_[n]) || !is_promised(entrants_[n].goal.aim))
                continue;
            const Ns used = thinks(accounts_[n])
                                ? tsgs_of(entrants_[n]) * std::min(accounts_[n].burst, turns_[n])
                                : scaled(round_, parts_[n], whole);
            if (scaled(used, whole, longer) < wanted(n) - bursts_allowance)
                return false;
        }
        return true;
    }

    /// Lengthens promised turns beside tenants that are served first, if those are not idle for
    /// long enough.
    void share_with_service() {
        Ns busy = 0, switches = 0, service = 0;
        std::int64_t services = 0;
        Part promised = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            if (!is_here(entrants_[n]))
                continue;
            if (entrants_[n].goal.aim == Aim::latency) {
                const Ns slice = settings_.latency_slice;
                if (accounts_[n].busy > busy) {
                    busy = accounts_[n].busy;
                    // The GPU is switched before and after each pause of the service.
                    switches = thinks(accounts_[n])
                                   ? busy * 2 * settings_.costs.change / accounts_[n].burst
                                   : 0;
                }
                services += tsgs_of(entrants_[n]);
                service += tsgs_of(entrants_[n]) * (thinks(accounts_[n])
                                                        ? std::min(accounts_[n].burst, slice)
                                                        : slice + settings_.costs.rest);
            } else if (is_promised(entrants_[n].goal.aim)) {
                promised += wanted(n);
            }
        }
        const Part free =
            scaled(std::max<Ns>(0, settings_.epoch - busy - switches), whole, settings_.epoch);
        Ns unpromised = switching(tsgs_, settings_.costs); // of a round
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (is_here(entrants_[n]) && entrants_[n].goal.aim != Aim::latency &&
                !is_promised(entrants_[n].goal.aim))
                unpromised += least_of(entrants_[n].goal, tsgs_of(entrants_[n]), settings_);
        const Part usable = scaled(free, std::max<Ns>(0, round_ - unpromised), round_);
        if (promised <= usable || free == whole)
            return;
        // The promised parts have the missing time while the service is busy.
        constexpr Part most = 95 * point;
        const Part wanted_here = scaled(promised - usable, whole, whole - free),
                   missing = std::min(most, wanted_here);
        Ns besides = service + switching(tsgs_ + services, settings_.costs);
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (is_here(entrants_[n]) && entrants_[n].goal.aim != Aim::latency &&
                !is_promised(entrants_[n].goal.aim))
                besides += turns_[n] * tsgs_of(entrants_[n]);
        // In a longer round a second would have too few turns to have a part of it.
        const Ns wanted_round = scaled(besides, whole, whole - missing),
                 round = std::min(wanted_round, settings_.longest_round());
        if (wanted_round > round)
            service_slice_ =
                std::max((scaled(round, whole - missing, whole) - (besides - service)) / services -
                             settings_.costs.rest,
                         ms);
        // Parts of what the service leaves do not matter any more.
        overcommitted_ = is_too_much_ || wanted_here > most;
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (is_here(entrants_[n]) && is_promised(entrants_[n].goal.aim))
                turns_[n] =
                    std::max(turns_[n], scaled(scaled(round, missing, whole), wanted(n), promised) /
                                            tsgs_of(entrants_[n]));
    }

    void divide() {
        const Ns switches = switching(tsgs_, settings_.costs);
        Part left = std::max<Part>(0, whole - scaled(switches, whole, round_));
        // The others divide the time that tenants which are served first leave.
        Ns taken = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (entrants_[n].goal.aim == Aim::latency)
                taken += accounts_[n].taken;
        const Ns others = std::max(settings_.epoch - taken, settings_.epoch / 4);
        const auto in_rest = [&](Part part) { return scaled(part, settings_.epoch, others); };
        const auto beside_pause = [&](std::size_t n, Part part) {
            return n == alone_ ? part : scaled(part, whole, whole - pause_of_promised_);
        };
        Part promised = 0, owed = 0;
        std::int64_t weights = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            const Goal &goal = entrants_[n].goal;
            if (is_promised(goal.aim)) {
                parts_[n] = has_short_bursts(n)
                                ? std::min(busy_part(n), scaled(all_bursts(n), whole, round_))
                            : is_fitted(n) && !latency_ ? busy_part(n)
                                                        : in_rest(wanted(n) + lost(n));
                parts_[n] = beside_pause(n, parts_[n]);
                if (is_here(entrants_[n])) {
                    const Part base = beside_pause(n, in_rest(goal.part));
                    promised += std::min(base, parts_[n]);
                    owed += std::max<Part>(0, parts_[n] - base);
                }
            } else if (goal.aim == Aim::best_effort && is_here(entrants_[n])) {
                weights += goal.weight;
                left -= std::min(left, least(n));
            } else if (goal.aim == Aim::timeslice) {
                parts_[n] = least(n);
                if (is_here(entrants_[n]))
                    left -= std::min(left, least(n));
            }
        }
        // First what is promised, then what is owed, then the rest.
        const Part given = std::min(promised, left), paid = std::min(owed, left - given);
        overcommitted_ = overcommitted_ || given < promised;
        const Part rest = left - given - paid;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            const Goal &goal = entrants_[n].goal;
            if (is_promised(goal.aim)) {
                const Part base = std::min(beside_pause(n, in_rest(goal.part)), parts_[n]),
                           more = parts_[n] - base;
                parts_[n] = (promised ? scaled(base, given, promised) : base) +
                            (owed ? scaled(more, paid, owed) : 0);
            } else if (goal.aim == Aim::best_effort) {
                parts_[n] =
                    least(n) + (is_here(entrants_[n]) ? scaled(rest, goal.weight, weights) : 0);
            }
        }
        // Without a tenant that takes the rest, it goes to all in proportion: turns are as long as
        // the round.
        const Part all = given + paid;
        if (weights == 0 && all > 0)
            for (std::size_t n = 0; n < entrants_.size(); n++)
                if (is_promised(entrants_[n].goal.aim))
                    parts_[n] += scaled(parts_[n], rest, all);
    }

    Part least(std::size_t n) const {
        return scaled(least_of(entrants_[n].goal, tsgs_of(entrants_[n]), settings_), whole, round_);
    }

    const std::span<const Entrant> entrants_;
    const std::span<const Account> accounts_;
    const Settings &settings_;
    std::vector<Part> parts_;
    std::vector<Ns> turns_; ///< of each TSG, with what they take beyond their timeslices
    std::int64_t tsgs_ = 0; ///< but those of tenants that are served first
    bool latency_ = false, overcommitted_ = false;
    std::optional<std::size_t> alone_; ///< the others are paused for this one
    Part pause_of_promised_ = 0;
    bool is_too_much_ = false; ///< more is promised than fits, whatever the tenants use
    Ns round_ = 0;
    Ns service_slice_ = second; ///< the longest timeslice of a tenant that is served first
};

} // namespace qos
