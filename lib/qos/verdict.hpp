// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What the turns of a tenant show of its goal: that it was kept, that it was missed, or neither.
///
/// The work and the pauses of a tenant are known within Bounds. A goal was kept if all work and pauses
/// within them keep it, and missed if all of them miss it.
#pragma once

#include "ledger.hpp"

namespace qos {

enum class Verdict {
    kept,
    missed,
    unseen, ///< the turns do not show whether the goal was kept
};

/// Returns the verdict on the last second, or on a longer window (window_of()). Nothing is missed
/// before Ledger::is_judged().
///
/// A share or a speed may be missed by one point. A second may miss it by another 0.8 points and two
/// bursts, but not by more than half of it, as long as the last ten seconds together have their part.
/// The reason is that a second has a turn and a burst more or less at each of its ends.
/// @param burst Observation::burst
Verdict judge(const Goal &goal, const Ledger &ledger, Ns burst);

} // namespace qos
