// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a tenant had, and what it is owed: its account from epoch to epoch.
#pragma once

#include "admission.hpp"
#include "demand.hpp"

namespace qos {

/// The memory of a tenant from epoch to epoch.
struct Account {
    Ns credit = 0;           ///< quota that it is owed; below 0: it used more than its quota
    Ns progress = 0;         ///< since it came, for Scheme::history
    Ns taken = 0;            ///< smoothed use in an epoch, with Aim::latency
    Ns quota_time = 0;       ///< time with work, since it came
    std::int64_t behind = 0; ///< epochs in a row far behind its quota; below 0: so many epochs pass
                             ///< before the others may be paused again
    Ns burst = 0, pause = 0; ///< of Observation, with the last epoch in which they were seen
    Ns recent = 0, idle = 0; ///< progress and Observation::idle of the last second or so
    Ns busy = 0;             ///< smoothed Observation::backlogged, with Aim::latency
    std::int64_t epochs = 0; ///< epochs since it or another one came or went, if it is promised a
                             ///< part
    std::int64_t tight = 0;  ///< epochs in a row in which the others had the shortest turns for it
    bool operator==(const Account &) const = default;
};

/// A tenant that thinks keeps a share with so much of what it would use alone, because each change
/// of turns takes time.
inline constexpr Part enough_of_alone = 98 * point;

/// Returns the part of the time that the tenant would use if it had the engine whenever it wants
/// it; nullopt: it had no work. It is never too small: time that may have been a wait counts as
/// one.
constexpr std::optional<Part> wanted_alone(Ns progress, Ns idle) {
    return progress + idle > 0 ? std::optional(scaled(progress, whole, progress + idle))
                               : std::nullopt;
}

/// Returns the part of the time that keeps a share: the share, or what the tenant would use alone
/// if that is less.
constexpr Part part_to_keep(const Goal &goal, Ns progress, Ns idle) {
    const Part alone = wanted_alone(progress, idle).value_or(whole);
    return std::min(goal.part, scaled(alone, enough_of_alone, whole));
}

/// Returns the use that counts for the goal: without the time in which the tenant was idle and no
/// other one wanted the GPU, and for Aim::speed without what turns take beyond their timeslices.
Ns progress_of(const Goal &goal, const Observation &seen, const Costs &costs);

/// The other tenants in an epoch.
struct Others {
    Ns waited = 0;           ///< so long they may have waited for the engine, all together
    bool are_capped = false; ///< one of them has a cap
};

/// Returns the account after an epoch.
Account settled(const Goal &goal, Account account, const Observation &seen, const Others &others,
                const Settings &settings);

/// Forgets most of what the tenant used beyond its quota, because other tenants came or went.
void forget_debt(Account &account, const Settings &settings);

/// Returns the part of the next epoch for a tenant's turns: what it is promised and what it is
/// owed.
Part wanted_part(const Goal &goal, const Account &account, const Settings &settings);

/// A share counts so much of what its turns lose at their ends. Beyond that it is the time on the GPU,
/// and not its own progress, which Aim::speed counts.
inline constexpr Part most_lost_of_share = 3 * point;

/// Returns how much of what a share's turns lose counts.
constexpr Ns counted_of_turns(Ns lost, Ns time) {
    return std::min(lost, scaled(time, most_lost_of_share, whole));
}

/// Returns how much more time than its part a share has for what its turns lose.
Ns repaid_of_turns(Ns lost, Ns time);

/// Returns the part of the time that is aimed at for the share of a tenant which thinks.
Part part_to_reach(const Goal &goal, const Account &account);

/// Does the tenant think between two bursts of work?
constexpr bool thinks(const Account &account) {
    return account.burst > 0;
}

} // namespace qos
