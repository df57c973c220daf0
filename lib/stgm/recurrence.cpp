// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recurrence.hpp"

#include <algorithm>

namespace stgm {
namespace {

__extension__ using Wide = unsigned __int128;

/// Solves the equation without rounding up. The solution is not above the least response, and as a
/// starting point saves steps if the demand nearly fills the core.
Time from_below(Time base, std::span<const Source> sources) {
    constexpr int fraction = 40;
    const Wide one = Wide{1} << fraction;
    Wide load = 0, start = static_cast<Wide>(base);
    for (const Source &source : sources) {
        const Wide demand = static_cast<Wide>(source.demand),
                   period = static_cast<Wide>(source.period);
        load += (demand << fraction) / period;
        start += demand * static_cast<Wide>(source.jitter) / period;
    }
    if (!start)
        return base;
    if (load >= one || start > static_cast<Wide>(endless))
        return endless;
    const Wide found = (start << fraction) / (one - load);
    return found > static_cast<Wide>(endless) ? endless : static_cast<Time>(found);
}

} // namespace

std::optional<Time> least_response(Time base, std::span<const Source> sources, Time deadline,
                                   Time window_min, Time *last) {
    constexpr int steps_before_jump = 32;
    Time response = base;
    for (int step = 0; response <= deadline; step++) {
        const Time window = std::max(response, window_min);
        Time next = base;
        for (const Source &source : sources)
            next = add(next, multiply(divide_up(add(window, source.jitter), source.period),
                                      source.demand));
        if (next == response)
            return response;
        response = step == steps_before_jump ? std::max(next, from_below(base, sources)) : next;
    }
    if (last)
        *last = response;
    return std::nullopt;
}

} // namespace stgm
