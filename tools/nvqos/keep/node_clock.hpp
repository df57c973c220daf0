// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The clock that all nodes have, CLOCK_TAI, and whether it agrees with those of other nodes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/base/clock_state.hpp"
#include "lib/qos/goal.hpp"

namespace nvqos {

/// Returns the time of CLOCK_TAI, or of CLOCK_REALTIME where the kernel does not have it.
[[nodiscard]] qos::Ns tai_now();

/// Reads the clock. A test has another one in its place.
struct NodeClock {
    std::function<qos::Ns()> now = tai_now;
    nvdebug::base::ReadClock state; ///< empty: adjtimex(2)

    /// Judges windows by the clock. Reads, and remembers nothing.
    [[nodiscard]] nvdebug::base::ClockVerdict verdict() const;
};

/// Judges the clock again and again while windows go by it. A clock that has failed has to agree
/// for a minute before it is used again, because the nodes' windows differ at each of these changes.
class ClockJudge {
  public:
    static constexpr qos::Ns between_looks = qos::second, calm = 60 * qos::second;

    explicit ClockJudge(NodeClock clock) : clock_(std::move(clock)), verdict_(clock_.verdict()) {}

    /// Looks at the clock, if the last look is a second ago. Returns whether it has become usable,
    /// or is no longer so.
    /// @param now any clock that goes on evenly
    bool look(qos::Ns now);
    [[nodiscard]] const nvdebug::base::ClockVerdict &verdict() const { return verdict_; }
    [[nodiscard]] const NodeClock &clock() const { return clock_; }

  private:
    NodeClock clock_;
    nvdebug::base::ClockVerdict verdict_;
    qos::Ns looked_at_ = 0;
    std::optional<qos::Ns> failed_at_ = {}; ///< the last look at which it could not be used
};

/// Returns `windows by the clock: the clocks of nodes may differ by …`, or `no windows by the
/// clock: …`.
[[nodiscard]] std::string text_of(const nvdebug::base::ClockVerdict &verdict);

} // namespace nvqos
