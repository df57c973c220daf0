// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Sets the timeslices and pauses of the tasks on one GPU, as a qos::Governor decides them
/// for their tenants. A request is made when something is to change. It is repeated on each beat,
/// because the helper that carries it out restores the task when requests stop
/// (nvdebug::HoldOptions).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "lib/qos/asking.hpp"
#include "lib/qos/governor.hpp"
#include "tasks.hpp"

namespace nvqos {

class Levers {
  public:
    /// @param tasks, tenants outlive the levers
    /// @param beat the longest time from one request for a task to the next
    /// @param clock returns the GPU's time, without a request to the driver
    Levers(Tasks &tasks, const Tenants &tenants, qos::Ns beat, std::function<qos::Ns()> clock)
        : tasks_(tasks), tenants_(tenants), beat_(beat), clock_(std::move(clock)) {}

    /// The time at which levers are set.
    struct Moment {
        qos::Ns now;       ///< the step's time
        qos::Ns due;       ///< when the step was due
        bool has_switches; ///< Turns::has_switches()
    };
    /// The pauses that have begun.
    struct Pauses {
        std::vector<std::size_t> tenants; ///< one for each task
        std::optional<qos::Ns> takes =
            {}; ///< the time of a pause (qos::PauseTime); empty: none began
    };

    /// Asks for what each task is to have, and waits until the driver has done it. Gives tasks up
    /// that cannot be changed.
    /// @param wanted by tenant
    Pauses set(std::span<const qos::Lever> wanted, const Moment &moment);

    /// Returns whether a task is paused whose tenant is not to be paused any more.
    bool ends_pause(std::span<const qos::Lever> wanted) const;

  private:
    nvdebug::Result<void> show_on_record(Task &task, const Moment &moment) const;
    /// Returns whether there was anything to ask for.
    nvdebug::Result<bool> ask(Task &task, const qos::Lever &wanted, bool sets_timeslices,
                              const Moment &moment) const;

    Tasks &tasks_;
    const Tenants &tenants_;
    const qos::Ns beat_;
    const std::function<qos::Ns()> clock_;
    qos::PauseTime pause_time_;
};

} // namespace nvqos
