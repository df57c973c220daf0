// SPDX-License-Identifier: MIT OR GPL-2.0
#include "adjustment.hpp"

namespace engine {
namespace {

/** Returns how many blocks of @p from must leave so that a block of @p to fits. The result is
 * more than @p from has if no number is enough. */
int needed(const Tenant &from, const Tenant &to, Room free) {
    int count = 0;
    for (; count <= from.blocks && !free.fits(to.need); count++)
        free.give(from.need);
    return count;
}

/** Returns the number of the condition, 1 to 3, that makes @p from a victim, or 0. */
int condition(const Tenant &from, int count, const AdjustmentReadings &readings) {
    if (!from.qos)
        return from.blocks - count >= readings.least ? 1 : 0;
    if (from.idle >= count + 1)
        return 2;
    const qos::Rational kept = 1 - qos::fraction(count, std::max<std::int64_t>(from.everywhere, 1));
    return from.speed * kept > from.goal ? 3 : 0;
}

std::optional<Swap> growth(const std::vector<Tenant> &tenants, const Room &free, std::size_t to,
                           const AdjustmentReadings &readings) {
    if (free.fits(tenants[to].need))
        return Swap{.to = to};
    std::optional<Swap> found;
    int best = 0;
    for (std::size_t v = 0; v < tenants.size(); v++) {
        const int count = v == to ? 0 : needed(tenants[v], tenants[to], free);
        if (count == 0 || count > tenants[v].blocks)
            continue;
        const int which = condition(tenants[v], count, readings);
        const bool better = !found || which < best ||
                            (which == best && tenants[v].blocks > tenants[*found->from].blocks);
        if (which && better) {
            found = {.to = to, .from = v, .count = count};
            best = which;
        }
    }
    return found;
}

/** Finds a QoS kernel with blocks to spare, and a kernel without a goal that has fewer blocks than
 * at the start. Returns the swap from the first to the second. */
std::optional<Swap> back(const std::vector<Tenant> &tenants, const Room &free) {
    for (std::size_t k = 0; k < tenants.size(); k++) {
        const Tenant &giver = tenants[k];
        if (!giver.qos || giver.blocks <= giver.start || giver.idle_all < 2)
            continue;
        for (std::size_t to = 0; to < tenants.size(); to++) {
            if (tenants[to].qos || tenants[to].blocks >= tenants[to].start)
                continue;
            const int count = needed(giver, tenants[to], free);
            if (count == 0)
                return Swap{.to = to};
            if (giver.blocks - count >= giver.start && giver.idle_all > count)
                return Swap{.to = to, .from = k, .count = count};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<Swap> adjust(const std::vector<Tenant> &tenants, const Room &free,
                           const AdjustmentReadings &readings) {
    if (!readings.grows)
        return std::nullopt;
    for (std::size_t k = 0; k < tenants.size(); k++) {
        const Tenant &one = tenants[k];
        if (!one.qos || (readings.throttled ? one.idle_all : one.idle) > 1 ||
            one.speed >= one.goal || !one.has_more)
            continue;
        if (const std::optional<Swap> found = growth(tenants, free, k, readings))
            return found;
    }
    return readings.returns ? back(tenants, free) : std::nullopt;
}

} // namespace engine
