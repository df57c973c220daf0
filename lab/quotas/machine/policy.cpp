// SPDX-License-Identifier: MIT OR GPL-2.0
#include "policy.hpp"

#include <algorithm>
#include <numeric>

namespace qos {

Rational alpha(const Rational &goal, const Progress &past, const Rational &peak,
               const Readings &readings) {
    if (past.cycles == 0)
        return 1;
    Rational found = past.instructions ? Rational(goal * fraction(past.cycles, past.instructions))
                                       : Rational(peak / goal);
    if (readings.alpha_max && found > *readings.alpha_max)
        found = *readings.alpha_max;
    return found < 1 ? Rational(1) : found;
}

Rational attainment(const Progress &last, const Rational &alpha, const Rational &goal) {
    return fraction(last.instructions, last.cycles) / (alpha * goal);
}

Rational search_factor(std::span<const Rational> attained, SearchOperator by) {
    if (attained.empty())
        return 1;
    if (by == SearchOperator::min)
        return *std::ranges::min_element(attained);
    Rational found = attained.front();
    for (const Rational &one : attained.subspan(1)) {
        if (by == SearchOperator::product)
            found *= one;
        else
            found += one;
    }
    return by == SearchOperator::mean ? Rational(found / Integer(attained.size())) : found;
}

Rational quota(const Rational &goal, const Rational &alpha, std::int64_t epoch,
               const Rational *most) {
    const Rational wanted = alpha * goal * Integer(epoch);
    return most && wanted > *most ? *most : wanted;
}

namespace {

std::vector<Integer> largest_remainders(const Integer &whole, std::span<const std::int64_t> blocks,
                                        const Integer &all_blocks) {
    std::vector<Integer> found(blocks.size()), remainder(blocks.size());
    Integer left = whole;
    for (std::size_t sm = 0; sm < blocks.size(); sm++) {
        const Integer part = whole * Integer(blocks[sm]);
        found[sm] = part / all_blocks;
        remainder[sm] = part % all_blocks;
        left -= found[sm];
    }
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
    for (std::size_t n = 0; n < left; n++)
        found[order[n]] += 1;
    return found;
}

} // namespace

std::vector<Integer> shares(const Rational &quota, std::span<const std::int64_t> blocks,
                            Rounding by) {
    Integer all_blocks = 0;
    for (const std::int64_t one : blocks)
        all_blocks += Integer(one);
    if (all_blocks == 0)
        return std::vector<Integer>(blocks.size());
    if (by == Rounding::largest)
        return largest_remainders(ceil(quota), blocks, all_blocks);
    std::vector<Integer> found;
    for (const std::int64_t one : blocks) {
        const Rational part = quota * fraction(one, all_blocks);
        found.push_back(by == Rounding::floor  ? floor(part)
                        : by == Rounding::ceil ? ceil(part)
                                               : nearest(part));
    }
    return found;
}

Kept kept(Scheme scheme, bool qos, const Readings &readings) {
    return {.rests = qos && rolls_over(scheme), .debts = readings.carries_debt(scheme)};
}

std::vector<std::int64_t> carried(std::span<const std::int64_t> counters,
                                  std::span<const std::int64_t> quotas,
                                  std::span<const std::int64_t> blocks, Kept what,
                                  const Readings &readings) {
    std::vector<std::int64_t> rests(counters.size());
    if (what.rests) {
        std::ranges::transform(counters, rests.begin(),
                               [](std::int64_t one) { return std::max<std::int64_t>(one, 0); });
        const bool somewhere =
            std::ranges::any_of(blocks, [](std::int64_t one) { return one > 0; });
        if (readings.rollover_scope == RolloverScope::pool && somewhere) {
            Integer pool = 0;
            for (const std::int64_t rest : rests)
                pool += Integer(rest);
            const std::vector<Integer> parts = shares(pool, blocks, Rounding::largest);
            std::ranges::transform(parts, rests.begin(),
                                   [](const Integer &one) { return one.get_si(); });
        }
        if (readings.rollover_cap)
            for (std::size_t sm = 0; sm < rests.size(); sm++)
                if (const Integer most = floor(*readings.rollover_cap * Integer(quotas[sm]));
                    most < rests[sm])
                    rests[sm] = most.get_si();
    }
    if (what.debts)
        for (std::size_t sm = 0; sm < rests.size(); sm++)
            rests[sm] += std::min<std::int64_t>(counters[sm], 0);
    return rests;
}

bool is_refilled(const Seat &seat, const Exhausted &on_sm, Scheme scheme,
                 const Readings &readings) {
    if (!seat.resident || (seat.qos && scheme != Scheme::elastic))
        return false;
    switch (readings.refill_trigger) {
    case Trigger::all:
        return on_sm.all;
    case Trigger::own:
        return on_sm.qos && seat.exhausted;
    case Trigger::qos:
        return on_sm.qos;
    }
    return false;
}

} // namespace qos
