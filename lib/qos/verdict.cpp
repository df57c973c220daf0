// SPDX-License-Identifier: MIT OR GPL-2.0
#include "verdict.hpp"

#include <algorithm>
#include <limits>

namespace qos {
namespace {

/// How much of a window a tenant may miss because of turns at its ends.
constexpr Part turns_at_ends = 8 * point / 10;

constexpr Ns unlimited = std::numeric_limits<Ns>::max();

/// The work and the pauses of a tenant in a window, as far as its turns show them.
struct Possible {
    Ns time;    ///< in which it is promised its part
    Range work; ///< its progress
    Ns alone;   ///< the time that it would take alone for its work and its pauses
};

/// @param lost, paused within Bounds
Possible possible_with(const Goal &goal, const Balance &balance, Ns lost, Ns paused) {
    const Bounds &bounds = balance.bounds;
    const Ns time = balance.backlogged + balance.idle;
    if (goal.aim == Aim::share)
        lost = counted_of_turns(lost, time);
    // A tenant whose turns lose all of their time wants the engine, and makes no progress.
    const Ns used = std::max<Ns>(1, balance.used - lost),
             known = std::max<Ns>(0, used - bounds.open - bounds.rested.most);
    // A tenant that had the engine to itself worked for the same part of that time as in its other turns
    // and pauses, if it had enough of these.
    const Ns idle_open =
        4 * known > bounds.open
            ? scaled(bounds.open, bounds.paused.most, std::max<Ns>(1, known + bounds.paused.most))
            : bounds.open;
    return {time,
            {std::max<Ns>(1, used - bounds.rested.most - idle_open),
             std::max<Ns>(1, used - bounds.rested.least)},
            used + paused};
}

/// Returns the work with which a goal is missed by more than @p allowed; Range::least is not one of it.
/// A promise is a part of what the tenant would use alone, and that is more for more work: with very
/// little work nothing is missed.
Range work_that_misses(const Goal &goal, const Possible &possible, Ns allowed) {
    const bool is_share = goal.aim == Aim::share;
    const Part of_alone = is_share ? enough_of_alone : goal.part;
    const Ns more = scaled(possible.time, of_alone, whole) - possible.alone;
    return {more > 0 ? scaled(allowed, possible.alone, more) : unlimited,
            is_share ? scaled(possible.time, goal.part, whole) - allowed - 1 : unlimited};
}

/// Returns whether a goal may have been missed by more than @p allowed. It is not said if a third of the
/// possible work at most misses it, as then it probably was kept.
bool may_be_missed(const Goal &goal, const Balance &balance, Ns allowed) {
    const Possible possible =
        possible_with(goal, balance, balance.bounds.lost.most, balance.bounds.paused.least);
    const Range missing = work_that_misses(goal, possible, allowed);
    const Ns least = std::max(missing.least, possible.work.least),
             most = std::min(missing.most, possible.work.most);
    if (possible.work.least == possible.work.most)
        return missing.least < most && most == possible.work.most;
    return 3 * (most - least) > possible.work.most - possible.work.least;
}

bool is_certainly_missed(const Goal &goal, const Balance &balance, Ns allowed) {
    if (balance.bounds.just_in_time > 0)
        return false;
    const Possible possible =
        possible_with(goal, balance, balance.bounds.lost.least, balance.bounds.paused.most);
    const Range missing = work_that_misses(goal, possible, allowed);
    return possible.work.least > missing.least && possible.work.most <= missing.most;
}

/// Returns how much a second may miss beyond a point if the seconds before it make up for that. Bursts
/// and turns are whole, so that a second has one more or less at each of its ends.
Ns allowed_at_ends(const Goal &goal, const Balance &balance, Ns burst) {
    const Part part =
        goal.aim == Aim::share ? part_to_keep(goal, balance.progress, balance.idle) : goal.part;
    return std::min(2 * burst + scaled(balance.time, turns_at_ends, whole),
                    scaled(balance.time, part, 2 * whole));
}

} // namespace

Verdict judge(const Goal &goal, const Ledger &ledger, Ns burst) {
    const Balance &last = ledger.balance(), &lately = ledger.lately();
    if (!ledger.is_judged())
        return Verdict::kept;
    if (goal.cap && last.used > scaled(last.time, *goal.cap, whole) + allowance(last))
        return Verdict::missed;
    if (!is_promised(goal.aim) || !may_be_missed(goal, last, allowance(last)))
        return Verdict::kept;
    const Ns allowed = allowance(last) + allowed_at_ends(goal, last, burst);
    if (is_certainly_missed(goal, last, allowed))
        return Verdict::missed;
    // A mean of less than two windows says little more than the last one.
    if (lately.time >= 2 * last.time) {
        if (is_certainly_missed(goal, lately, allowance(lately)))
            return Verdict::missed;
        if (may_be_missed(goal, lately, allowance(lately)))
            return Verdict::unseen;
    }
    return may_be_missed(goal, last, allowed) ? Verdict::unseen : Verdict::kept;
}

} // namespace qos
