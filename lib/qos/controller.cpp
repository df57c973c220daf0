// SPDX-License-Identifier: MIT OR GPL-2.0
#include "controller.hpp"

#include <algorithm>

namespace qos {
namespace {

/// After `patience` epochs far behind, tenants of best effort are paused for an epoch, and then not
/// for -pause_after epochs.
constexpr std::int64_t patience = 2, pause_after = -8;

/// Below this part of the quota timeslices evidently do not stop the others; what is missing above
/// it is repaid from the credit.
bool is_far_behind(Ns progress, Ns quota) {
    return progress < quota - quota / 4;
}

std::int64_t tsgs_of(const Entrant &entrant) {
    return std::max<std::int64_t>(entrant.tsgs, 1);
}

bool is_here(const Entrant &entrant) {
    return entrant.tsgs > 0;
}

/// The length of the round, and the part of it that each tenant has.
class EpochDivision {
  public:
    EpochDivision(std::span<const Entrant> entrants, std::span<const Account> accounts,
                  const Settings &settings)
        : entrants_(entrants), settings_(settings), parts_(entrants.size()) {
        std::vector<Entrant> here;
        for (const Entrant &entrant : entrants) {
            if (is_here(entrant) && entrant.goal.aim != Aim::latency) {
                here.push_back(entrant);
                tsgs_ += entrant.tsgs;
            }
            latency_ = latency_ || (is_here(entrant) && entrant.goal.aim == Aim::latency);
        }
        const auto round = round_for(here, settings);
        overcommitted_ = !round || *round > settings.longest_round();
        round_ = latency_ ? round_beside_service(here, settings) : planned_round(here, settings);
        divide(accounts);
    }

    Part part(std::size_t n) const { return parts_[n]; }
    Ns round() const { return round_; }
    bool overcommitted() const { return overcommitted_; }

    Ns timeslice(std::size_t n) const {
        const Entrant &entrant = entrants_[n];
        if (entrant.goal.aim == Aim::latency)
            return settings_.latency_slice;
        if (entrant.goal.aim == Aim::timeslice)
            return entrant.goal.slice;
        const Ns turn = scaled(round_, parts_[n], whole) / tsgs_of(entrant);
        return std::clamp(turn - settings_.costs.rest, settings_.shortest, settings_.longest);
    }

  private:
    void divide(std::span<const Account> accounts) {
        const Ns switches = switching(tsgs_, settings_.costs);
        Part left = std::max<Part>(0, whole - scaled(switches, whole, round_));
        // The others divide the time that tenants which are served first leave.
        Ns taken = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++)
            if (entrants_[n].goal.aim == Aim::latency)
                taken += accounts[n].taken;
        const Ns others = std::max(settings_.epoch - taken, settings_.epoch / 4);
        const auto in_rest = [&](Part part) { return scaled(part, settings_.epoch, others); };
        Part promised = 0, owed = 0;
        std::int64_t weights = 0;
        for (std::size_t n = 0; n < entrants_.size(); n++) {
            const Goal &goal = entrants_[n].goal;
            if (is_promised(goal.aim)) {
                parts_[n] = in_rest(wanted_part(goal, accounts[n], settings_));
                if (is_here(entrants_[n])) {
                    promised += std::min(in_rest(goal.part), parts_[n]);
                    owed += std::max<Part>(0, parts_[n] - in_rest(goal.part));
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
                const Part base = std::min(in_rest(goal.part), parts_[n]), more = parts_[n] - base;
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
    const Settings &settings_;
    std::vector<Part> parts_;
    std::int64_t tsgs_ = 0; ///< but those of tenants that are served first
    bool latency_ = false, overcommitted_ = false;
    Ns round_ = 0;
};

} // namespace

Ns progress_of(const Goal &goal, const Observation &seen, const Costs &costs) {
    return goal.aim == Aim::speed ? std::max<Ns>(0, seen.used - seen.turns * costs.lost)
                                  : seen.used;
}

Account settled(const Goal &goal, Account account, const Observation &seen,
                const Settings &settings) {
    // Smoothed, as requests do not come evenly.
    if (goal.aim == Aim::latency)
        account.taken = account.taken ? (3 * account.taken + seen.used) / 4 : seen.used;
    if (!is_promised(goal.aim))
        return account;
    const Ns quota = scaled(seen.backlogged, goal.part, whole),
             progress = progress_of(goal, seen, settings.costs);
    account.progress += progress;
    account.quota_time += seen.backlogged;
    if (rolls_over(settings.scheme)) {
        // Use beyond the quota is mostly time that an idle neighbour left: a twentieth of an epoch
        // at most counts as a debt.
        const Ns most = settings.kept_epochs * scaled(settings.epoch, goal.part, whole),
                 least = -settings.epoch / 20;
        // A tenant without work keeps nothing.
        const Ns kept = seen.backlogged > 0 ? account.credit : std::min<Ns>(account.credit, 0);
        account.credit = std::clamp(kept + quota - progress, least, most);
    }
    account.behind = account.behind < 0 || is_far_behind(progress, quota) ? account.behind + 1 : 0;
    return account;
}

Part wanted_part(const Goal &goal, const Account &account, const Settings &settings) {
    if (rolls_over(settings.scheme))
        return std::clamp<Part>(
            goal.part + scaled(account.credit, whole, settings.repaid_in * settings.epoch), 0,
            whole);
    if (settings.scheme != Scheme::history || account.quota_time == 0)
        return goal.part;
    // Scheme::history: goal × α, where α = goal × time / progress is from 1 to 1 / goal
    const Ns quota = scaled(account.quota_time, goal.part, whole);
    if (account.progress >= quota)
        return goal.part;
    return account.progress > 0 ? std::min(whole, scaled(goal.part, quota, account.progress))
                                : whole;
}

Plan next_epoch(std::span<const Entrant> entrants, std::span<const Account> accounts,
                std::span<const Observation> seen, const Settings &settings) {
    Plan plan;
    plan.accounts.assign(accounts.begin(), accounts.end());
    bool pause = false;
    for (std::size_t n = 0; n < entrants.size() && !seen.empty(); n++) {
        Account &account = plan.accounts[n];
        account = settled(entrants[n].goal, account, seen[n], settings);
        if (account.behind >= patience) {
            pause = true;
            account.behind = pause_after;
        }
    }
    const EpochDivision division(entrants, plan.accounts, settings);
    plan.round = division.round();
    plan.overcommitted = division.overcommitted();
    for (std::size_t n = 0; n < entrants.size(); n++)
        plan.decisions.push_back({division.timeslice(n), division.part(n),
                                  pause && entrants[n].goal.aim == Aim::best_effort});
    return plan;
}

bool is_over(std::span<const Entrant> entrants, std::span<const Observation> seen,
             const Settings &settings) {
    if (settings.scheme != Scheme::elastic)
        return false;
    bool any = false;
    for (std::size_t n = 0; n < entrants.size(); n++) {
        const Goal &goal = entrants[n].goal;
        if (!is_promised(goal.aim) || !is_here(entrants[n]))
            continue;
        any = true;
        if (progress_of(goal, seen[n], settings.costs) < scaled(settings.epoch, goal.part, whole))
            return false;
    }
    return any;
}

} // namespace qos
