// SPDX-License-Identifier: MIT OR GPL-2.0
#include "refusal.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"

namespace nvqos {

using nvdebug::base::printable;
using qos::Ns;

namespace {

/// `serve (share 60 %), training (share 45 %)`, of promises.
std::string promises_of(const Asked &asked) {
    constexpr std::size_t most = 8;
    std::string text;
    std::size_t count = 0;
    for (const Tenant &tenant : asked.tenants)
        if (qos::is_promised(tenant.goal.aim) && ++count <= most)
            text += fmt::format("{}{} ({})", count > 1 ? ", " : "", printable(tenant.name),
                                text_of(tenant.goal));
    if (qos::is_promised(asked.others.aim) && ++count <= most)
        text += fmt::format("{}the others ({})", count > 1 ? ", " : "", text_of(asked.others));
    return count > most ? text + fmt::format(" and {} more", count - most) : text;
}

} // namespace

std::string refusal_of(const qos::Conflict &conflict, const Asked &asked) {
    using Why = qos::Conflict::Why;
    const std::string name = conflict.tenant < asked.tenants.size()
                                 ? printable(asked.tenants[conflict.tenant].name)
                                 : "the others";
    switch (conflict.why) {
    case Why::sum:
        return fmt::format(
            "shares and speeds add up to {}, and at most {} can be promised: {}. In a round of "
            "{:g} "
            "ms, the longest for this epoch, {} turns with {:g} us for each switch and the turns "
            "of tasks without a promise take the rest; ask for less, or for a longer --epoch",
            percent_of(conflict.asked), percent_of(conflict.possible), promises_of(asked),
            qos::milliseconds(conflict.round), conflict.turns,
            static_cast<double>(qos::Costs().change) / 1000);
    case Why::below_part:
        return fmt::format("{}: a cap of {} is below the {} that it is promised", name,
                           percent_of(conflict.possible), percent_of(conflict.asked));
    case Why::too_small:
        return fmt::format("{}: a cap of {} is less than the {} of an epoch that a pause and its "
                           "end take; ask for "
                           "more, or for a longer --epoch",
                           name, percent_of(conflict.asked), percent_of(conflict.possible));
    default:
        return fmt::format("an epoch of {:g} ms is too short: a pause and its end take {:g} ms, so "
                           "that the shortest "
                           "is {:g} ms",
                           qos::milliseconds(conflict.asked),
                           qos::milliseconds(2 * qos::Costs().pause),
                           qos::milliseconds(conflict.possible));
    }
}

std::vector<std::string> refusals_of(const Asked &asked, std::vector<qos::Entrant> entrants) {
    for (std::size_t n = 0; n < asked.tenants.size(); n++)
        entrants[n].tsgs = std::max<std::int64_t>(entrants[n].tsgs, 1);
    if (entrants.back().tsgs == 0)
        entrants.pop_back();
    std::vector<std::string> sentences;
    for (const qos::Conflict &conflict : qos::conflicts(entrants, asked.settings))
        sentences.push_back(refusal_of(conflict, asked));
    return sentences;
}

std::vector<std::string> refusals_of(const Asked &asked) {
    std::vector<qos::Entrant> entrants;
    for (const Tenant &tenant : asked.tenants)
        entrants.push_back({tenant.goal, 1});
    entrants.push_back({asked.others, 0});
    return refusals_of(asked, std::move(entrants));
}

} // namespace nvqos
