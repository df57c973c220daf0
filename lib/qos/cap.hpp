// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A cap: in no second more than a part of it. The tenant is paused when its credit, or what
/// the second up to now leaves it, is used up. Credit spreads its turns over the second; the second
/// is what is promised.
#pragma once

#include <deque>

#include "goal.hpp"

namespace qos {

/// A time in which the tenant had the GPU.
struct Span {
    Ns begin, end;
    bool operator==(const Span &) const = default;
};

/// Looks at the times that due() returns keep the use of any second within part × 1 s, and what it
/// runs on for when the pause takes longer than Costs::pause or the look comes late.
struct Cap {
    Part part; ///< above 0; whole: it is never paused
    /// A pause and the run after it take so long together, if it always has work and is alone.
    Ns cycle;
    bool paused = false;
    Ns credit = 0;              ///< below 0: it has run longer than it may
    Ns at = 0;                  ///< the last look
    std::deque<Span> uses = {}; ///< of the last second, in the order of time; they do not overlap
};

/// Cap::cycle. Each change takes requests and a look, so pauses are long: up to two and a half
/// epochs, and a whole number of cycles is a second, so that every second has the same part. With
/// @p hurried, as other tenants wait for their parts, it is two epochs.
Ns cycle_of(Part part, bool hurried, const Settings &settings);

/// The longest Costs::pause that leaves it runs: half of what it gains while paused.
Ns longest_pause(const Cap &cap);

/// How much credit ends a pause.
Ns enough(const Cap &cap, const Settings &settings);

/// It had the GPU since the last look, or still has it at @p end. In the order of time; not before
/// the last look.
void add_use(Cap &cap, Span use);

/// How long it had the GPU in the second before @p now.
Ns used_in_second(const Cap &cap, Ns now);

/// Sets whether it is to be paused from @p now on, which does not go back.
void look(Cap &cap, Ns now, const Settings &settings);

/// How long after the last look the next one is due: until then it neither has to be paused nor may
/// go on. Exact if it has the GPU all the time, or is paused.
Ns due(const Cap &cap, const Settings &settings);

} // namespace qos
