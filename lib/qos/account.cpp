// SPDX-License-Identifier: MIT OR GPL-2.0
#include "account.hpp"

#include <algorithm>

namespace qos {
namespace {

/// Account::recent and Account::idle are sums over about so many epochs.
constexpr std::int64_t remembered_epochs = 8;

/// The number of epochs after a tenant came or went in which parts differ from the plan.
constexpr std::int64_t unsettled_epochs = 10;

/// Returns whether a tenant got so little of its quota that timeslices evidently do not stop the
/// others. A smaller deficit is repaid from the credit.
bool is_far_behind(Ns progress, Ns quota) {
    return progress < quota - quota / 4;
}

Ns least_credit_at_first(const Settings &settings) {
    return -settings.epoch / 20;
}

} // namespace

Ns repaid_of_turns(Ns lost, Ns time) {
    // This is half of what a share may be missed by. The ends of turns take 1.85 points in usual
    // rounds.
    constexpr Part forgiven = point / 2;
    return std::max<Ns>(0, counted_of_turns(lost, time) - scaled(time, forgiven, whole));
}

Part part_to_reach(const Goal &goal, const Account &account) {
    // Only pauses of the others bring a tenant to all that it would use alone, and they cost the
    // others more than they give it. So it may stay almost a point below that.
    constexpr Part alone_allowance = 8 * point / 10;
    const Part alone =
        scaled(wanted_alone(account.recent, account.idle).value_or(whole), enough_of_alone, whole);
    return std::max<Part>(0, std::min(goal.part, alone - alone_allowance));
}

Ns progress_of(const Goal &goal, const Observation &seen, const Costs &costs) {
    const Ns lost = goal.aim == Aim::speed ? seen.turns * costs.lost
                    : goal.aim == Aim::share
                        ? repaid_of_turns(seen.bounds.lost.most, seen.backlogged + seen.idle)
                        : 0;
    return std::max<Ns>(0, seen.used - seen.idle_alone() - lost);
}

void forget_debt(Account &account, const Settings &settings) {
    account.epochs = 0;
    account.credit = std::max(account.credit, least_credit_at_first(settings));
}

namespace {

/// Returns what a tenant is promised of an epoch.
Ns quota_of(const Goal &goal, const Account &account, const Observation &seen) {
    if (goal.aim != Aim::share || !thinks(account))
        return scaled(seen.backlogged, goal.part, whole);
    return scaled(seen.backlogged + seen.idle, part_to_reach(goal, account), whole);
}

} // namespace

Account settled(const Goal &goal, Account account, const Observation &seen, const Others &others,
                const Settings &settings) {
    // Smoothed, as requests do not come evenly.
    if (goal.aim == Aim::latency) {
        account.taken = account.taken ? (3 * account.taken + seen.used) / 4 : seen.used;
        account.busy = account.busy ? (3 * account.busy + seen.backlogged) / 4 : seen.backlogged;
    }
    account.burst = seen.burst;
    account.pause = seen.pause;
    if (!is_promised(goal.aim))
        return account;
    const Ns progress = progress_of(goal, seen, settings.costs);
    account.epochs++;
    account.recent += progress - account.recent / remembered_epochs;
    account.idle += seen.idle + seen.idle_alone() - account.idle / remembered_epochs;
    const Ns quota = quota_of(goal, account, seen);
    account.progress += progress;
    account.quota_time += seen.backlogged;
    if (rolls_over(settings.scheme)) {
        // Use beyond the quota counts as a debt as far as others may have waited meanwhile. Turns
        // reach only some parts of the time, as bursts end them early: then the debt keeps the
        // tenant between the next larger part and the next smaller one. If no other task wanted what
        // it used beyond its quota, the others do not need what it owes either. While a cap pauses
        // another tenant this one has more, and it is not to have less for that in a later second.
        const Ns beyond = progress - quota;
        const bool is_free = beyond > 0 && beyond <= seen.alone;
        const Ns most = settings.kept_epochs * scaled(settings.epoch, goal.part, whole),
                 least = account.epochs > unsettled_epochs && !is_free && !others.are_capped
                             ? -settings.epoch
                             : least_credit_at_first(settings);
        // A tenant without work keeps nothing.
        const Ns kept = seen.backlogged > 0 ? account.credit : std::min<Ns>(account.credit, 0);
        account.credit = std::clamp(kept - std::min(beyond, others.waited), least, most);
        // A tenant that has all that it uses alone cannot use more, so an earlier debt to it fades.
        if (beyond >= 0 && account.credit > 0 && thinks(account) && goal.aim == Aim::share &&
            part_to_reach(goal, account) < goal.part)
            account.credit -= account.credit / 32;
    }
    const bool is_behind = !thinks(account) && is_far_behind(progress, quota);
    account.behind = account.behind < 0 || is_behind ? account.behind + 1 : 0;
    return account;
}

namespace {

/// Returns how much more than its part of the last second or so the tenant has had.
Ns beyond_lately(const Goal &goal, const Account &account, const Settings &settings) {
    return std::max<Ns>(0, account.recent - remembered_epochs * scaled(settings.epoch,
                                                                       part_to_reach(goal, account),
                                                                       whole));
}

} // namespace

Part wanted_part(const Goal &goal, const Account &account, const Settings &settings) {
    if (rolls_over(settings.scheme)) {
        // A debt is repaid only while the tenant had more than its part lately, so that no second
        // has less than its part because an earlier one had more. Seven times what it had beyond
        // its part is repaid at most: with less, a part of the excess would stay for good, and with
        // more, a second would end below its part.
        constexpr std::int64_t repaid_of_excess = 7;
        const Ns owed =
            std::max(account.credit, -repaid_of_excess * beyond_lately(goal, account, settings));
        return std::clamp<Part>(goal.part +
                                    scaled(owed, whole, settings.repaid_in * settings.epoch),
                                goal.part / 4, whole);
    }
    if (settings.scheme != Scheme::history || account.quota_time == 0)
        return goal.part;
    // Scheme::history: goal × α, where α = goal × time / progress is from 1 to 1 / goal
    const Ns quota = scaled(account.quota_time, goal.part, whole);
    if (account.progress >= quota)
        return goal.part;
    return account.progress > 0 ? std::min(whole, scaled(goal.part, quota, account.progress))
                                : whole;
}

} // namespace qos
