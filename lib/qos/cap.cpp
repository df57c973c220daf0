// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cap.hpp"

#include <algorithm>

namespace qos {
namespace {

Ns in_a_second(const Cap &cap) {
    return scaled(second, cap.part, whole);
}

/// Of its last second.
Ns left(const Cap &cap) {
    return in_a_second(cap) - used_in_second(cap, cap.at);
}

/// What the second before has to leave it to go on. While it runs, more of that second passes out
/// of sight.
Ns room(const Cap &cap, const Settings &settings) {
    return std::max(enough(cap, settings) / 4, 2 * settings.costs.pause);
}

/// After the last look: when the second before has room for so much.
Ns room_for(const Cap &cap, Ns wanted) {
    Ns lacking = wanted - left(cap);
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

} // namespace

Ns enough(const Cap &cap, const Settings &settings) {
    return std::max(scaled(scaled(2 * settings.epoch, cap.part, whole), whole - cap.part, whole),
                    settings.costs.pause);
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
    cap.paused = cap.paused ? cap.credit < enough(cap, settings) || left(cap) < room(cap, settings)
                            : std::min(cap.credit, left(cap)) <= settings.costs.pause;
}

Ns due(const Cap &cap, const Settings &settings) {
    if (cap.part >= whole)
        return settings.epoch;
    if (cap.paused)
        return std::max(
            scaled(std::max<Ns>(0, enough(cap, settings) - cap.credit), whole, cap.part),
            room_for(cap, room(cap, settings)));
    return std::max<Ns>(0,
                        std::min(scaled(cap.credit - settings.costs.pause, whole, whole - cap.part),
                                 left(cap) - settings.costs.pause));
}

} // namespace qos
