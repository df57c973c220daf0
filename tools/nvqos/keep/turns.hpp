// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The turns of processes on one GPU, from the driver's record of context switches, and the
/// GPU's clock in which their times are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gpu_clock.hpp"
#include "gpu_report.hpp"
#include "nvdebug/turns.hpp"
#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// A turn of a process, or a part of a turn that goes on.
struct TaskTurn {
    std::uint32_t pid, context;
    qos::Ns begin, end;
    bool ends;          ///< else the turn goes on
    bool continues;     ///< an earlier part of the same turn was returned before
    bool is_of_unknown; ///< no turn of this context was returned before
};

class Turns {
  public:
    /// @param local the clock by which GpuClock estimates the time between requests
    Turns(std::unique_ptr<nvdebug::SwitchReader> reader, GpuClock::Local local)
        : reader_(std::move(reader)), clock_(std::move(local)) {}

    /// Moves now() on to the GPU's time.
    Outcome<void> read_clock();
    /// Leaves out all that was before now().
    void begin();

    struct Batch {
        bool has_gap = false; ///< switches were lost between the last batch and this one
        std::vector<TaskTurn> turns;
    };
    /// Returns the turns since the last call, in the order of time, up to now(). Moves now() on if
    /// some switches are later.
    Outcome<Batch> read();

    qos::Ns now() const { return now_; }
    /// Returns the GPU's time without a request to the driver, at least now().
    qos::Ns estimate() const { return std::max(now_, clock_.estimate()); }
    /// GpuClock::local_of()
    qos::Ns local_of(qos::Ns ns) const { return clock_.local_of(ns); }
    /// Returns whether a switch was read since the last gap.
    bool has_switches() const { return last_switch_ != 0; }
    /// Returns how many switches the driver did not record, since the beginning.
    std::uint64_t lost() const { return lost_; }
    /// Returns the reads so far.
    const Calls &reads() const { return reads_; }
    /// Returns when the process was started, as nvdebug::SwitchReader::started() does.
    std::optional<std::uint64_t> started(std::uint32_t pid) const { return reader_->started(pid); }

  private:
    void take(bool ends, Batch &batch);

    std::unique_ptr<nvdebug::SwitchReader> reader_;
    GpuClock clock_;
    qos::Ns now_ = 0;
    nvdebug::SwitchTurns turns_{std::nullopt};
    std::vector<nvdebug::Turn> found_;
    std::uint64_t lost_ = 0, last_switch_ = 0;
    Calls reads_;
    /// The end of the last part of a turn, by pid and context.
    std::map<std::pair<std::uint32_t, std::uint32_t>, qos::Ns> contexts_;
};

} // namespace nvqos
