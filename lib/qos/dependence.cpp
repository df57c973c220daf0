// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dependence.hpp"

#include <algorithm>

namespace qos {
namespace {

bool is_served_first(const Entrant &entrant) {
    return entrant.goal.aim == Aim::latency;
}

/// The rounds of a GPU with tenants that are served first, and the time left for those.
struct Rest {
    Ns round = 0;      ///< while the tenants that are served first are idle
    Ns busy_round = 0; ///< while they always have work
    Part promised = 0;
    Part room = whole; ///< of the time, for the tenants that are served first
};

Rest rest_of(std::span<const Entrant> all, const Settings &settings) {
    Rest rest;
    std::vector<Entrant> entrants;
    std::int64_t turns = 0, services = 0;
    Ns besides = 0;
    for (const Entrant &entrant : all) {
        turns += entrant.tsgs;
        if (is_served_first(entrant)) {
            services += entrant.tsgs;
            continue;
        }
        entrants.push_back(entrant);
        if (is_promised(entrant.goal.aim))
            rest.promised += entrant.goal.part;
        else
            besides += least_of(entrant.goal, entrant.tsgs, settings);
    }
    rest.round = round_beside_service(entrants, settings);
    besides += switching(turns, settings.costs);
    const Ns served = services * (settings.latency_slice + settings.costs.rest);
    if (rest.promised >= whole) {
        rest.busy_round = settings.longest_round();
        rest.room = 0;
        return rest;
    }
    rest.busy_round = scaled(served + besides, whole, whole - rest.promised);
    const Part others = rest.promised + scaled(besides, whole, std::max<Ns>(rest.busy_round, 1));
    rest.room = std::max<Part>(0, whole - others);
    return rest;
}

/// Returns the longest turn of a tenant while a service has pauses that are long enough.
Ns turn_of(const Entrant &entrant, const Rest &rest, const Settings &settings) {
    if (is_served_first(entrant))
        return settings.latency_slice + settings.costs.rest;
    if (entrant.goal.aim == Aim::timeslice)
        return entrant.goal.slice + settings.costs.rest;
    return rest.round;
}

} // namespace

std::vector<Dependence> dependences(std::span<const Entrant> entrants, const Settings &settings) {
    std::vector<Entrant> all(entrants.begin(), entrants.end());
    for (Entrant &entrant : all)
        entrant.tsgs = std::max<std::int64_t>(entrant.tsgs, 1);
    const Rest rest = rest_of(all, settings);
    Part taken = 0; // by tenants that are served first, at most
    for (const Entrant &entrant : all)
        if (is_served_first(entrant))
            taken += entrant.goal.cap.value_or(whole);
    std::vector<Dependence> found;
    for (std::size_t n = 0; n < all.size(); n++)
        for (std::size_t on = 0; on < all.size(); on++) {
            if (on == n || !is_served_first(all[n]))
                continue;
            if (is_promised(all[on].goal.aim) && taken > rest.room)
                found.push_back({Dependence::Why::time, n, on, rest.room,
                                 scaled(rest.busy_round, all[on].goal.part, whole)});
            const Ns turn = turn_of(all[on], rest, settings);
            const bool is_fixed = is_served_first(all[on]) || all[on].goal.aim == Aim::timeslice;
            if (is_fixed || (all[n].goal.p99 && turn >= all[n].goal.p99))
                found.push_back({Dependence::Why::turns, n, on, 0, turn});
        }
    return found;
}

} // namespace qos
