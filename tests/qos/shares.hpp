// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What part of the time a share may have.
#pragma once

#include <gtest/gtest.h>

namespace shares {

/// nvqos gives a share what its turns lose at their ends, but for half a point, in more time. In usual
/// rounds turns lose 1.85 points. Three points count at most.
inline constexpr double repaid = 1.4, most_repaid = 2.55;

/// Returns whether a share has its part within a point, and no more beyond it than @p more.
/// @param points, percent of the time: what it had, and what it was promised
inline testing::AssertionResult is_kept(double points, double percent, double more) {
    return (points > percent - 1 && points < percent + more ? testing::AssertionSuccess()
                                                            : testing::AssertionFailure())
           << "a share of " << percent << " % had " << points << " %";
}

} // namespace shares
