// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "recorded_events.hpp"

namespace nvdebugctl {

/// Passes each event to several sinks.
class Tee final : public Sink {
  public:
    void add(Sink &sink) { sinks_.push_back(&sink); }
    void head(const RecordingHead &head) override;
    void clock(std::uint32_t gpu, const ClockReading &reading) override;
    void process(std::uint32_t gpu, const RecordedProcess &process) override;
    void turn(const Lane &lane, const nvdebug::Turn &turn, const RecordedProcess *process) override;
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override;
    void mark(const Mark &mark) override;
    void end(const Lane &lane, const LaneEnd &end) override;
    void launch(const drawing::Launch &launch) override;
    void end(const Json &summary) override;

  private:
    std::vector<Sink *> sinks_;
};

} // namespace nvdebugctl
