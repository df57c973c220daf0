// SPDX-License-Identifier: MIT OR GPL-2.0
#include "admission.hpp"

#include <algorithm>

namespace qos {
namespace {

/// The load of a round: its promised parts, and the time and turns beside them.
struct Load {
    Ns besides = 0;
    Part promised = 0;
    std::int64_t turns = 0;
};

Load load_of(std::span<const Entrant> entrants, const Settings &settings) {
    Load load;
    for (const Entrant &entrant : entrants) {
        load.turns += entrant.tsgs;
        if (is_promised(entrant.goal.aim))
            load.promised += entrant.goal.part;
        else
            load.besides += least_of(entrant.goal, entrant.tsgs, settings);
    }
    load.besides += switching(load.turns, settings.costs);
    return load;
}

/// Returns a round that is a quarter longer, so that there is something left to repay with.
constexpr Ns with_slack(Ns round) {
    return round + round / 4;
}

/// Returns the shortest round of all in which the load fits; nullopt if it fits in none.
std::optional<Ns> shortest_round(const Load &load) {
    if (load.besides == 0)
        return load.promised <= whole ? std::optional<Ns>(0) : std::nullopt;
    if (load.promised >= whole)
        return std::nullopt;
    // besides + promised × round ≤ round
    return scaled(load.besides, whole, whole - load.promised) + 1;
}

} // namespace

std::optional<Ns> round_for(std::span<const Entrant> entrants, const Settings &settings) {
    const auto shortest = shortest_round(load_of(entrants, settings));
    return shortest ? std::optional(std::max(settings.round(), *shortest)) : std::nullopt;
}

Ns planned_round(std::span<const Entrant> entrants, const Settings &settings) {
    const Ns longest = settings.longest_round();
    const Ns round = round_for(entrants, settings).value_or(longest);
    return std::min(longest, round > settings.round() ? with_slack(round) : round);
}

Ns round_beside_service(std::span<const Entrant> entrants, const Settings &settings) {
    const Load load = load_of(entrants, settings);
    if (load.turns <= 1)
        return least_of(entrants.empty() ? Goal() : entrants.front().goal, 1, settings);
    const Ns worth_switches = 10 * switching(load.turns, settings.costs);
    const Ns needed = with_slack(shortest_round(load).value_or(settings.longest_round()));
    return std::min(planned_round(entrants, settings), std::max(worth_switches, needed));
}

std::vector<Conflict> conflicts(std::span<const Entrant> entrants, const Settings &settings) {
    using Why = Conflict::Why;
    std::vector<Conflict> found;
    const auto round = round_for(entrants, settings);
    if (!round || *round > settings.longest_round()) {
        const Load load = load_of(entrants, settings);
        const auto first = std::ranges::find_if(
            entrants, [](const Entrant &entrant) { return is_promised(entrant.goal.aim); });
        const Ns longest = settings.longest_round();
        const Part possible =
            load.besides >= longest ? 0 : scaled(longest - load.besides, whole, longest);
        found.push_back({Why::sum, static_cast<std::size_t>(first - entrants.begin()),
                         load.promised, possible, longest, load.turns});
    }
    // A tenant runs for one pause at least before it is off again, and has to wait for that time to
    // come back.
    const Part smallest = scaled(2 * settings.costs.pause, whole, settings.epoch);
    for (std::size_t n = 0; n < entrants.size(); n++) {
        const Goal &goal = entrants[n].goal;
        if (goal.cap && is_promised(goal.aim) && *goal.cap < goal.part)
            found.push_back({Why::below_part, n, goal.part, *goal.cap});
        if (goal.cap && *goal.cap < smallest)
            found.push_back({Why::too_small, n, *goal.cap, smallest});
    }
    // Two pauses may take 5 % of an epoch.
    const Ns shortest_epoch = 2 * settings.costs.pause * 20;
    if (settings.epoch < shortest_epoch)
        found.push_back({Why::short_epoch, 0, settings.epoch, shortest_epoch});
    return found;
}

} // namespace qos
