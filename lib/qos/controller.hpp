// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What tenants get in the next epoch, from what they had in the last ones: timeslices and
/// pauses. The schemes are in scheme.hpp, with time on the GPU for instructions
/// (docs/qos-measured.md): a tenant's quota of an epoch is its part of the time in which it had
/// work.
#pragma once

#include "admission.hpp"
#include "demand.hpp"

namespace qos {

/// What is kept of a tenant from epoch to epoch.
struct Account {
    Ns credit = 0;           ///< quota that it is owed; below 0: it used more than its quota
    Ns progress = 0;         ///< since it came, for Scheme::history
    Ns taken = 0;            ///< smoothed use in an epoch, with Aim::latency
    Ns quota_time = 0;       ///< time with work, since it came
    std::int64_t behind = 0; ///< epochs in a row far behind its quota; below 0: so many epochs pass
                             ///< before the others may be paused again
    bool operator==(const Account &) const = default;
};

struct Decision {
    Ns timeslice; ///< of each of its TSGs
    Part wanted;  ///< of the time, for all its turns together while all have work
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

/// Returns the use that counts for the goal: for Aim::speed without what turns take beyond their
/// timeslices.
Ns progress_of(const Goal &goal, const Observation &seen, const Costs &costs);

/// Returns the account after an epoch.
Account settled(const Goal &goal, Account account, const Observation &seen,
                const Settings &settings);

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
