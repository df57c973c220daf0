// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What tasks had of an engine: counters that only rise, for a bounded number of tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "nvdebug/turns.hpp"

namespace nvdebug::exporter {

/// Returns the holder by which TaskTimes adds up the turns of a task.
[[nodiscard]] Holder task_of(const Holder &who);

struct Times {
    std::uint64_t ns = 0;        ///< on the engine, without:
    std::uint64_t saving_ns = 0; ///< nvdebug::saving_ns()
    std::uint64_t away_ns = 0;   ///< between its turns: it waited, or had no work
    Lengths slices;              ///< of turns that were seen to begin and to end
};

class TaskTimes {
  public:
    /// @param most tasks have their own times; those of more are added up in others().
    explicit TaskTimes(std::size_t most) : most_(most) {}

    /// In the order of time. A task is a process where that is known, else a TSG or channel.
    /// @param timeslice_ns empty: not known
    void add(const Turn &turn, std::optional<std::uint64_t> timeslice_ns = std::nullopt);
    /// Turns may be missing here: how long tasks were away is not known.
    void lose();
    /// Forgets tasks, which make room.
    void forget_if(const std::function<bool(const Holder &)> &ended);

    const std::map<Holder, Times> &tasks() const { return tasks_; }
    const Times &others() const { return others_; }
    /// From one turn to the next, where that was no more than Tally::longest_switch_ns.
    const Lengths &switches() const { return switches_; }

  private:
    const std::size_t most_;
    std::map<Holder, Times> tasks_;
    std::map<Holder, std::uint64_t> left_; // when its last turn ended; of tasks_ alone
    Times others_;
    Lengths switches_;
};

} // namespace nvdebug::exporter
