// SPDX-License-Identifier: MIT OR GPL-2.0
#include "controller.hpp"

#include <algorithm>

#include "epoch_division.hpp"

namespace qos {
namespace {

/// After `patience` epochs far behind, tenants of best effort are paused for an epoch, and then not
/// for -pause_after epochs.
constexpr std::int64_t pause_after = -8;

} // namespace

Plan next_epoch(std::span<const Entrant> entrants, std::span<const Account> accounts,
                std::span<const Observation> seen, const Settings &settings) {
    Plan plan;
    plan.accounts.assign(accounts.begin(), accounts.end());
    bool pause = false;
    for (std::size_t n = 0; n < entrants.size() && !seen.empty(); n++) {
        Account &account = plan.accounts[n];
        Others others;
        for (std::size_t other = 0; other < entrants.size(); other++) {
            if (other == n)
                continue;
            others.waited += std::max<Ns>(0, seen[other].backlogged - seen[other].used);
            others.are_capped =
                others.are_capped || (is_here(entrants[other]) && entrants[other].goal.cap);
        }
        account = settled(entrants[n].goal, account, seen[n], others, settings);
        if (account.behind >= patience) {
            pause = true;
            account.behind = pause_after;
        }
    }
    const EpochDivision division(entrants, plan.accounts, settings);
    plan.round = division.round();
    plan.overcommitted = division.overcommitted();
    Part paused = 0;
    for (std::size_t n = 0; n < entrants.size() && !seen.empty(); n++) {
        Account &account = plan.accounts[n];
        account.tight = division.is_tight(n) ? account.tight + 1 : 0;
        if (account.tight > patience)
            paused = std::max(paused, division.pause_for(n));
    }
    for (std::size_t n = 0; n < entrants.size(); n++) {
        const bool gives_way = entrants[n].goal.aim == Aim::best_effort;
        Part part = gives_way ? paused : 0;
        if (is_promised(entrants[n].goal.aim) && division.alone() != n && !seen.empty())
            part = division.pause_of_promised();
        plan.decisions.push_back({division.timeslice(n), division.part(n), pause && gives_way,
                                  scaled(settings.epoch, part, whole)});
    }
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
