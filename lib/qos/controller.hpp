// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What tenants get in the next epoch, from what they had in the last ones: timeslices and
/// pauses. The schemes are in scheme.hpp, with time on the GPU for instructions
/// (docs/qos-measured.md): a tenant's quota of an epoch is its part of the time in which it had
/// work.
///
/// A tenant that thinks between two bursts of work gives the GPU up after each burst, so that a
/// longer timeslice does not give it more. Its part then depends on how long the others have the
/// GPU in between. So the round is as long as its burst divided by its part, and its timeslice is
/// as long as its burst: a burst that its timeslice cuts costs a whole turn of the others. If the
/// shortest turns of the others still leave it too little, they are paused for a part of each
/// epoch. Its quota is a part of all the time but absences, since what it does not get before a
/// pause it cannot get in the pause.
///
/// A tenant that is served first has what promises leave. While it is idle for long enough, the
/// promised parts have their turns then, and turns beside it are as short as possible. While it is
/// not, promised parts have turns of such a length that they get their part.
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

struct Decision {
    Ns timeslice; ///< of each of its TSGs
    Part wanted;  ///< of the time, for all its turns together while all have work
    bool paused;  ///< for the whole epoch
    Ns pause = 0; ///< it is paused for so long from the beginning of the epoch on
    bool operator==(const Decision &) const = default;
};

struct Plan {
    std::vector<Account> accounts;   ///< by entrant, as the following
    std::vector<Decision> decisions; ///< of one without TSGs: as if it had one
    Ns round = 0;                    ///< while all have work
    /// Promised parts do not fit any more, and each is cut by the same factor.
    bool overcommitted = false;
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

/// @param entrants with 0 TSGs: it is not there
/// @param accounts, seen by entrant; seen is of the epoch that ends, and empty if none does
Plan next_epoch(std::span<const Entrant> entrants, std::span<const Account> accounts,
                std::span<const Observation> seen, const Settings &settings);

/// Scheme::elastic: returns whether every tenant with a quota has used it up, so that the next
/// epoch begins at once; false if no tenant has a quota. @param seen in this epoch so far
bool is_over(std::span<const Entrant> entrants, std::span<const Observation> seen,
             const Settings &settings);

} // namespace qos
