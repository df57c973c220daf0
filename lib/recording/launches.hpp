// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads the launches that `nvtaskset --kernels FOLDER` wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/drawing/events.hpp"
#include "nvdebug/error.hpp"

namespace recording {

/// Learns the time of a recording from its readings of clocks.
class TimeSpan final : public drawing::Sink {
  public:
    void clock(std::uint32_t gpu, const drawing::ClockReading &reading) override;

    /// Returns true if there was a reading.
    bool is_known() const { return started_ns_.has_value(); }
    /// Returns true if a time by CLOCK_BOOTTIME is between the first reading and the last.
    bool has(std::uint64_t boottime_ns) const {
        return begin_ns_ <= boottime_ns && boottime_ns <= end_ns_;
    }
    /// Returns true if a reading of two clocks is of the same start of the same machine. Only a
    /// change of the wall clock makes them drift apart.
    bool is_of_same_start(std::uint64_t boottime_ns, std::uint64_t realtime_ns) const;

  private:
    std::uint64_t begin_ns_ = UINT64_MAX, end_ns_ = 0;
    std::optional<std::uint64_t> started_ns_; ///< CLOCK_REALTIME at the start of the machine
};

/// The number of launches in files.
struct LaunchCounts {
    std::uint64_t passed = 0;  ///< launches in the time of the recording
    std::uint64_t lost = 0;    ///< launches that the files count as lost, at any time
    std::uint64_t earlier = 0; ///< files of another start of the machine, which are left out
};

/// Passes the launches of all files of a folder that are in a recording's time. Fails with the first
/// file that is wrong, after the launches before it were passed: another user may have made it.
[[nodiscard]] nvdebug::Result<LaunchCounts>
read_launches(const std::string &folder, const TimeSpan &time, drawing::Sink &sink);

} // namespace recording
