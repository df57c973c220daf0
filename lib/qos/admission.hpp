// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which goals cannot be kept, before anything is changed.
#pragma once

#include "goal.hpp"

namespace qos {

/// A tenant that competes for the GPU, or all tasks without a tenant of their own together.
struct Entrant {
    Goal goal;
    std::int64_t tsgs = 1; ///< each has one turn in a round
};

/// A goal that cannot be kept, with the numbers that show it.
struct Conflict {
    enum class Why {
        sum,         ///< of the promised parts @p asked, with switches at most @p possible
        below_part,  ///< the cap of the tenant, @p possible, is below what is promised to it, @p
                     ///< asked
        too_small,   ///< a cap of @p asked is less than one pause takes; the least is @p possible
        short_epoch, ///< an epoch of @p asked ns is too short to pause in; the least is @p possible
                     ///< ns
    } why;
    std::size_t tenant; ///< the first that it is about
    std::int64_t asked, possible;
    Ns round = 0;           ///< with Why::sum: the longest that there may be
    std::int64_t turns = 0; ///< and how many it has
    bool operator==(const Conflict &) const = default;
};

/// Returns the time that switching takes in a round of @p turns. A single turn is not switched.
constexpr Ns switching(std::int64_t turns, const Costs &costs) {
    return turns > 1 ? turns * costs.change : 0;
}

/// Returns the shortest time in a round of a tenant with so many turns; with Aim::timeslice turns
/// have one length.
constexpr Ns least_of(const Goal &goal, std::int64_t turns, const Settings &settings) {
    return turns *
           ((goal.aim == Aim::timeslice ? goal.slice : settings.shortest) + settings.costs.rest);
}

/// Returns the shortest round, at least Settings::round(), in which all promised parts fit beside
/// switches and the shortest turns of the others; nullopt if they fit in none.
std::optional<Ns> round_for(std::span<const Entrant> entrants, const Settings &settings);

/// Returns round_for() with some time left to repay with, and Settings::longest_round() at most.
Ns planned_round(std::span<const Entrant> entrants, const Settings &settings);

/// Returns the round of tenants beside one that is served first. It is so short that switches take
/// a tenth of it, as a request waits for it, or longer if the promised parts do not fit otherwise.
/// @param entrants without those that are served first
Ns round_beside_service(std::span<const Entrant> entrants, const Settings &settings);

/// Returns the goals that cannot be kept. It is not known, and not considered, whether a tenant's
/// work can be interrupted at the end of a timeslice.
std::vector<Conflict> conflicts(std::span<const Entrant> entrants, const Settings &settings);

} // namespace qos
