// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Sets the timeslices and pauses of the tasks on one GPU, as a qos::Governor or windows
/// (Windows) decide them for their tenants. A request is made when something is to change. It is repeated on each beat,
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

/// The timeslice and the pause to set for the tasks of a tenant.
struct WantedLever {
    std::optional<qos::Ns> timeslice = {}; ///< empty: the timeslice from before nvqos
    bool paused = false;
    bool operator==(const WantedLever &) const = default;
};

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
    Pauses set(std::span<const WantedLever> wanted, const Moment &moment);

    /// Returns whether a task is paused whose tenant is not to be paused any more.
    bool ends_pause(std::span<const WantedLever> wanted) const;
    /// Returns when the driver had last confirmed a state that a task did not have before, by the
    /// GPU's clock; 0: no task was changed.
    qos::Ns changed_at() const { return changed_at_; }
    /// Returns the requests so far.
    const Calls &requests() const { return requests_; }

  private:
    nvdebug::Result<void> show_on_record(Task &task, const Moment &moment) const;
    /// Returns whether there was anything to ask for.
    nvdebug::Result<bool> ask(Task &task, const WantedLever &wanted, const Moment &moment) const;

    Tasks &tasks_;
    const Tenants &tenants_;
    const qos::Ns beat_;
    const std::function<qos::Ns()> clock_;
    qos::PauseTime pause_time_;
    qos::Ns changed_at_ = 0;
    Calls requests_;
};

} // namespace nvqos
