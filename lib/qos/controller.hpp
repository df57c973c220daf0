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

#include "account.hpp"

namespace qos {

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

/// @param entrants with 0 TSGs: it is not there
/// @param accounts, seen by entrant; seen is of the epoch that ends, and empty if none does
Plan next_epoch(std::span<const Entrant> entrants, std::span<const Account> accounts,
                std::span<const Observation> seen, const Settings &settings);

/// Scheme::elastic: returns whether every tenant with a quota has used it up, so that the next
/// epoch begins at once; false if no tenant has a quota. @param seen in this epoch so far
bool is_over(std::span<const Entrant> entrants, std::span<const Observation> seen,
             const Settings &settings);

} // namespace qos
