// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "nvdebug/jobs.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// Sums a recording up: shares, lengths of turns, time for switches, and jobs on several GPUs.
class Totals final : public Sink {
  public:
    void head(const RecordingHead &head) override { head_ = head; }
    void clock(std::uint32_t gpu, const ClockReading &reading) override;
    void process(std::uint32_t gpu, const RecordedProcess &process) override;
    void turn(const Lane &lane, const nvdebug::Turn &turn, const RecordedProcess *process) override;
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override;
    void mark(const Mark &) override { marks_++; }
    void end(const Lane &lane, const LaneEnd &end) override;

    std::uint64_t turns() const { return turns_; }
    /// Returns the `data` of nvdebug/record.
    /// @param cost time that recording took, as a part of a core's, 0 to 1; empty: not known
    [[nodiscard]] Json summary(std::optional<double> cost) const;

  private:
    /// Returns a row for the clock of each GPU.
    [[nodiscard]] Json clocks() const;

    struct Engine {
        nvdebug::Tally tally;
        std::optional<std::uint64_t> first_ns, last_ns; ///< of the engine's turns
        std::uint64_t lost = 0;
        LaneEnd end;
    };
    /// The first and the last reading of CLOCK_MONOTONIC.
    struct WallClock {
        std::uint64_t first_ns, last_ns;
    };
    std::map<std::uint32_t, WallClock> wall_;            ///< by GPU
    std::map<std::uint32_t, nvdebug::ClockError> error_; ///< by GPU
    RecordingHead head_;
    std::map<const Lane *, Engine> engines_;
    std::vector<const Lane *> order_; ///< in order of appearance
    RecordedProcesses processes_;
    nvdebug::JobMeter jobs_; ///< by turns that are recorded switch by switch
    std::uint64_t turns_ = 0, marks_ = 0;
};

} // namespace nvdebugctl
