// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <map>
#include <utility>

#include "cli/command.hpp"
#include "nvdebug/task.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// Passes on the turns of the chosen processes, and every event that belongs to no process.
class Chosen final : public Sink {
  public:
    /// @param selection empty: all processes are chosen
    Chosen(nvdebug::TaskSelection selection, Sink &to)
        : selection_(std::move(selection)), to_(to) {}

    void head(const RecordingHead &head) override { to_.head(head); }
    void clock(std::uint32_t gpu, const ClockReading &reading) override { to_.clock(gpu, reading); }
    void process(std::uint32_t gpu, const RecordedProcess &process) override;
    void turn(const Lane &lane, const nvdebug::Turn &turn, const RecordedProcess *process) override;
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        to_.lost(lane, ns, count);
    }
    void mark(const Mark &mark) override { to_.mark(mark); }
    void end(const Lane &lane, const LaneEnd &end) override { to_.end(lane, end); }
    void launch(const drawing::Launch &launch) override;
    void end(const Json &summary) override { to_.end(summary); }

    /// Returns a summary without the processes that are not chosen. The values of engines still
    /// count all processes.
    [[nodiscard]] Json cut(Json summary) const;

  private:
    [[nodiscard]] bool has(std::uint32_t gpu, std::uint32_t pid) const;

    const nvdebug::TaskSelection selection_;
    Sink &to_;
    /// Whether a process is chosen, by GPU and pid. A later process of the same number replaces the
    /// earlier one.
    std::map<std::pair<std::uint32_t, std::uint32_t>, bool> chosen_;
};

} // namespace nvdebugctl
