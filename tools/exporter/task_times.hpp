// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Counters of the time that tasks had an engine. They only rise, and the number of tasks is
/// bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "nvdebug/turns.hpp"

namespace nvdebug::exporter {

/// Returns the holder under which TaskTimes adds up the turns of a task.
[[nodiscard]] Holder task_of(const Holder &who);

struct Times {
    std::uint64_t ns = 0;        ///< time on the engine, without saving_ns
    std::uint64_t saving_ns = 0; ///< time for saving the task, see nvdebug::saving_ns()
    std::uint64_t away_ns = 0;   ///< time between its turns, in which it waited or had no work
    Lengths slices;              ///< lengths of turns whose begin and end were seen
};

class TaskTimes {
  public:
    /// @param most number of tasks that have times of their own; the times of further tasks are
    /// added up in others()
    explicit TaskTimes(std::size_t most) : most_(most) {}

    /// Adds a turn. Turns come in the order of time. A task is a process if the process is known,
    /// else a TSG or channel.
    /// @param timeslice_ns empty: not known
    void add(const Turn &turn, std::optional<std::uint64_t> timeslice_ns = std::nullopt);
    /// Notes that turns may be missing at this point, so that the time that tasks were away is not
    /// known.
    void lose();
    /// Forgets the tasks that have ended, which makes room for others.
    void forget_if(const std::function<bool(const Holder &)> &ended);

    const std::map<Holder, Times> &tasks() const { return tasks_; }
    const Times &others() const { return others_; }
    /// Returns the times between two turns. A time longer than Tally::longest_switch_ns does not
    /// count.
    const Lengths &switches() const { return switches_; }

  private:
    const std::size_t most_;
    std::map<Holder, Times> tasks_;
    std::map<Holder, std::uint64_t> left_; // the end of each task's last turn, for tasks_ only
    Times others_;
    Lengths switches_;
};

} // namespace nvdebug::exporter
