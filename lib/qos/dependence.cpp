// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dependence.hpp"

#include <algorithm>

namespace qos {
namespace {

bool is_served_first(const Entrant &entrant) {
    return entrant.goal.aim == Aim::latency;
}

/// The tenants that divide what the ones that are served first leave.
struct Rest {
    std::vector<Entrant> entrants;
    Ns round = 0;
    Part promised = 0, fits = 0; ///< fits: of what is left to them, the most that can be promised
};

Rest rest_of(std::span<const Entrant> all, const Settings &settings) {
    Rest rest;
    std::int64_t turns = 0;
    for (const Entrant &entrant : all) {
        if (is_served_first(entrant))
            continue;
        rest.entrants.push_back(entrant);
        rest.promised += is_promised(entrant.goal.aim) ? entrant.goal.part : 0;
        turns += entrant.tsgs;
    }
    rest.round = round_beside_service(rest.entrants, settings);
    Ns besides = switching(turns, settings.costs);
    for (const Entrant &entrant : rest.entrants)
        if (!is_promised(entrant.goal.aim))
            besides += least_of(entrant.goal, entrant.tsgs, settings);
    rest.fits = whole - std::min(whole, scaled(besides, whole, rest.round));
    return rest;
}

/// Returns the longest turn of a tenant beside one that is served first.
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
    const Part needed = rest.promised <= rest.fits && rest.fits > 0
                            ? scaled(rest.promised, whole, rest.fits)
                            : whole;
    const Part room = whole - needed;
    std::vector<Dependence> found;
    for (std::size_t n = 0; n < all.size() && taken > 0; n++)
        for (std::size_t on = 0; on < all.size(); on++) {
            if (is_promised(all[n].goal.aim) && is_served_first(all[on]) && taken > room)
                found.push_back({Dependence::Why::time, n, on, room});
            if (on == n || !is_served_first(all[n]))
                continue;
            const Ns turn = turn_of(all[on], rest, settings);
            const bool is_fixed = is_served_first(all[on]) || all[on].goal.aim == Aim::timeslice;
            if (is_fixed || (all[n].goal.p99 && turn >= all[n].goal.p99))
                found.push_back({Dependence::Why::turns, n, on, 0, turn});
        }
    return found;
}

} // namespace qos
