// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What tenants get in the next epoch, from what they had in the last ones: timeslices and
/// pauses. The schemes are those of readings.hpp, with time on the GPU for instructions
/// (docs/qos.md): a tenant's quota of an epoch is its part of the time in which it had work.
#pragma once

#include "admission.hpp"
#include "demand.hpp"

namespace qos {

/// What is kept of a tenant from epoch to epoch.
struct Account {
    Ns credit = 0;           ///< of its quotas, not used: it is owed that; below 0: it had more
    Ns progress = 0;         ///< since it came, for Scheme::history
    Ns taken = 0;            ///< of an epoch lately, with Aim::latency
    Ns quota_time = 0;       ///< in which it had work, since it came
    std::int64_t behind = 0; ///< epochs in a row in which it was far behind its quota; below 0: the
                             ///< others were paused
    bool operator==(const Account &) const = default;
};

struct Decision {
    Ns timeslice; ///< of each of its TSGs
    Part wanted;  ///< of the time: its turns have it while all have work
    bool paused;  ///< for the whole epoch
    bool operator==(const Decision &) const = default;
};

struct Plan {
    std::vector<Account> accounts;   ///< by entrant, as the following
    std::vector<Decision> decisions; ///< of one without TSGs: as if it had one
    Ns round = 0;                    ///< while all have work
    /// Promised parts do not fit any more, and each is cut by the same factor.
    bool overcommitted = false;
};

/// What a tenant did that counts for its goal: for a speed, without what ends of turns take.
Ns progress_of(const Goal &goal, const Observation &seen, const Costs &costs);

/// The account after an epoch.
Account settled(const Goal &goal, Account account, const Observation &seen,
                const Settings &settings);

/// The part of the next epoch that a tenant's turns are to have; a promised part, and what it is
/// owed.
Part wanted_part(const Goal &goal, const Account &account, const Settings &settings);

/// @param entrants with 0 turns: it has no TSG now
/// @param accounts, seen of the epoch that ends, by entrant; seen may be empty: none has ended
Plan next_epoch(std::span<const Entrant> entrants, std::span<const Account> accounts,
                std::span<const Observation> seen, const Settings &settings);

/// Scheme::elastic: has every tenant with a quota used it up, so that the next epoch may begin at
/// once? False if none has one. @param seen so far
bool is_over(std::span<const Entrant> entrants, std::span<const Observation> seen,
             const Settings &settings);

} // namespace qos
