// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which goals cannot be kept, before anything is changed.
#pragma once

#include "goal.hpp"

namespace qos {

/// A tenant that competes for the GPU, or all tasks without a tenant of their own together.
struct Entrant {
    Goal goal;
    std::int64_t turns = 1; ///< in a round: its TSGs, 1 or more
};

/// A goal that cannot be kept, with the numbers that it is seen by.
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

/// Time of a round of @p round that switching between @p turns of them takes. One alone is never
/// switched.
constexpr Ns switching(std::int64_t turns, const Costs &costs) {
    return turns > 1 ? turns * costs.change : 0;
}

/// The shortest turn of a tenant that has so many in a round.
constexpr Ns least_of(std::int64_t turns, const Settings &settings) {
    return turns * (settings.shortest + settings.costs.rest);
}

/// The shortest round in which all promised parts fit beside switches and the shortest turns of the
/// others; none if there is none of any length. At least Settings::round().
std::optional<Ns> round_for(std::span<const Entrant> entrants, const Settings &settings);

/// Empty if all goals can be kept as far as is known. Whether a
/// tenant's work can be interrupted at the end of a timeslice is not known.
std::vector<Conflict> conflicts(std::span<const Entrant> entrants, const Settings &settings);

} // namespace qos
