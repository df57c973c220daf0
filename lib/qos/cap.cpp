// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cap.hpp"

#include <algorithm>

namespace qos {
namespace {

Ns in_a_second(const Cap &cap) {
    return scaled(second, cap.part, whole);
}

/// Returns the credit that a task gains in the pause of a cycle.
Ns in_a_pause(const Cap &cap) {
    return scaled(scaled(cap.cycle, cap.part, whole), whole - cap.part, whole);
}

/// Returns how much time the cap leaves of the last second.
Ns left(const Cap &cap) {
    return in_a_second(cap) - used_in_second(cap, cap.at);
}

/// Returns the shortest run for which a task is resumed: an eighth of the run that its credit alone
/// would allow. Beside others it uses its time more slowly, so a longer minimum would leave too
/// much unused.
Ns worth_a_run(const Cap &cap, const Settings &settings) {
    return std::max(scaled(enough(cap, settings), whole, 8 * (whole - cap.part)),
                    settings.costs.pause);
}

/// Returns how long, counted from the last look, the task may have the GPU until its cap leaves it
/// only @p rest of the second before.
Ns runs_until(const Cap &cap, Ns rest) {
    Ns can = left(cap) - rest, time = 0;
    for (const Span &use : cap.uses) {
        // As long as an old use leaves the second, a new one takes its place.
        const Ns leaves = std::max(use.begin, cap.at - second) + second - cap.at;
        if (can <= leaves - time)
            break;
        can -= leaves - time;
        time = use.end + second - cap.at;
    }
    return time + can;
}

/// Returns how long after the last look the second before has room for @p wanted.
Ns room_for(const Cap &cap, Ns wanted) {
    Ns lacking = wanted - left(cap); // below 0: there is room now
    Ns when = cap.at;
    for (const Span &use : cap.uses) {
        if (lacking <= 0)
            break;
        const Ns begin = std::max(use.begin, cap.at - second),
                 part = std::min(lacking, use.end - begin);
        lacking -= part;
        when = begin + part + second;
    }
    return when - cap.at;
}

/// Returns how long after the last look the task may go on by the use of the second before. That
/// second leaves the task less and less while it runs, so the room at the end of the run decides.
Ns may_run(const Cap &cap, const Settings &settings) {
    const Ns run = worth_a_run(cap, settings);
    return std::max<Ns>(0, room_for(cap, run + settings.costs.pause) - run);
}

} // namespace

Ns cycle_of(Part part, bool hurried, const Settings &settings) {
    if (hurried)
        return 2 * settings.epoch;
    const Ns longest_pause = 5 * settings.epoch / 2, paused = scaled(second, whole - part, whole);
    return second / std::max<Ns>(1, (paused + longest_pause - 1) / longest_pause);
}

Ns longest_pause(const Cap &cap) {
    return in_a_pause(cap) / 2;
}

Ns enough(const Cap &cap, const Settings &settings) {
    return std::max(in_a_pause(cap), settings.costs.pause);
}

void add_use(Cap &cap, Span use) {
    if (use.end <= use.begin)
        return;
    cap.credit -= use.end - use.begin;
    if (!cap.uses.empty() && cap.uses.back().end == use.begin)
        cap.uses.back().end = use.end;
    else
        cap.uses.push_back(use);
}

Ns used_in_second(const Cap &cap, Ns now) {
    Ns used = 0;
    for (const Span &use : cap.uses)
        used += std::max<Ns>(0, use.end - std::max(use.begin, now - second));
    return used;
}

void look(Cap &cap, Ns now, const Settings &settings) {
    cap.credit = std::min(cap.credit + scaled(now - cap.at, cap.part, whole),
                          enough(cap, settings) + settings.costs.pause);
    cap.at = now;
    while (!cap.uses.empty() && cap.uses.front().end <= now - second)
        cap.uses.pop_front();
    if (cap.part >= whole)
        return;
    // It runs on until the pause has come.
    cap.paused = cap.paused ? cap.credit < enough(cap, settings) || may_run(cap, settings) > 0
                            : std::min(cap.credit, left(cap)) <= settings.costs.pause;
}

Ns due(const Cap &cap, const Settings &settings) {
    if (cap.part >= whole)
        return settings.epoch;
    if (cap.paused)
        return std::max(
            scaled(std::max<Ns>(0, enough(cap, settings) - cap.credit), whole, cap.part),
            may_run(cap, settings));
    return std::max<Ns>(0,
                        std::min(scaled(cap.credit - settings.costs.pause, whole, whole - cap.part),
                                 runs_until(cap, settings.costs.pause)));
}

} // namespace qos
