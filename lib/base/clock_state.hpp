// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How well the kernel's clock agrees with those of other machines, as far as the kernel
/// knows (adjtimex(2)).
///
/// chrony and ntpd set the largest error of the clock in the kernel, which adds 500 us to it in
/// each second until they set it again. phc2sys sets it to 0 each time, so that a small error is no
/// more than a sign that phc2sys runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "nvdebug/expected.hpp"

struct timex;

namespace nvdebug::base {

struct ClockState {
    bool is_synchronised = false;                  ///< the kernel's flag STA_UNSYNC is not set
    std::int64_t most_wrong_ns = 0;                ///< the largest error, to the true time
    std::optional<std::int32_t> tai_offset_s = {}; ///< of CLOCK_TAI to UTC; empty: not set

    /// Returns by how much the clocks of two machines may differ that are both in this state, in
    /// ns.
    std::int64_t most_difference_ns() const { return 2 * most_wrong_ns; }
    bool operator==(const ClockState &) const = default;
};

/// A call as adjtimex(2): fills the structure and returns the clock's state; -1: errno has the
/// reason.
using ReadClock = std::function<int(timex *)>;

/// Returns the state of this machine's clock. Changes nothing, and needs no rights. Fails with a
/// sentence if the call fails, as a container may forbid it.
[[nodiscard]] tl::expected<ClockState, std::string> read_clock_state(const ReadClock &read);
/// Returns the same, by adjtimex(2).
[[nodiscard]] tl::expected<ClockState, std::string> read_clock_state();

/// Whether windows by the clock agree with those of other nodes.
struct ClockVerdict {
    bool is_usable;       ///< the clocks differ by a fifth of a window or less
    std::string sentence; ///< for the user: how much is lost, or why none are to be used
    /// ClockState::most_difference_ns(); empty: the clock is not synchronised.
    std::optional<std::int64_t> difference_ns = {};
};

/// Judges windows of @p window_ns, which is above 0.
[[nodiscard]] ClockVerdict judge_clock(const ClockState &clock, std::int64_t window_ns);

} // namespace nvdebug::base
