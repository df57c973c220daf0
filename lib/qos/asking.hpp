// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What is asked of NVIDIA's driver, and when, to put a Governor's levers into effect. It is
/// the same on a GPU and in a simulation.
#pragma once

#include <algorithm>
#include <span>

#include "goal.hpp"

namespace qos {

/// The time after which a request for a task is repeated. The helper that holds the task restores
/// it when it has had no request for a second (nvdebug::HoldOptions::patience).
inline constexpr Ns usual_beat = 250 * ms;
/// While tasks are searched for, a step comes so often.
inline constexpr Ns between_looks_at_a_search = 10 * ms;

/// Returns whether goals need timeslices: caps alone are kept by pauses.
inline bool takes_timeslices(std::span<const Goal> goals) {
    return std::ranges::any_of(
        goals, [](const Goal &goal) { return goal.aim != Aim::best_effort || goal.weight != 1; });
}

/// Returns the timeslice to ask for: whole microseconds, and the previous one if the new one
/// differs by less than 1 %, which is not worth a request.
constexpr Ns timeslice_to_ask(Ns wanted, std::optional<Ns> previous) {
    const Ns whole_us = wanted / us * us;
    if (!previous)
        return whole_us;
    const Ns apart = *previous > whole_us ? *previous - whole_us : whole_us - *previous;
    return apart * 100 <= whole_us ? *previous : whole_us;
}

/// How long pauses take: a pause that took longer counts at once, and shorter ones bring it down
/// slowly. While processes start or end, the driver answers late (up to 40 ms on an H200), and the
/// next pauses are to be asked for earlier.
class PauseTime {
  public:
    /// @param took from when the step was due until the driver had confirmed the pause
    /// @returns what Governor::set_pause() is to be told
    Ns add(Ns took) {
        constexpr Ns longest = 25 * ms;
        took = std::min(took, longest);
        takes_ = took > takes_ ? took : takes_ - (takes_ - took) / 8;
        return takes_;
    }

  private:
    Ns takes_ = 0;
};

} // namespace qos
