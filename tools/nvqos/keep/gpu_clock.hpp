// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPU's clock, which the times of turns are from. The driver is asked for it now and
/// then only, because each request costs time.
#pragma once

#include <ctime>
#include <functional>

#include "lib/qos/goal.hpp"
#include "nvdebug/switches.hpp"

namespace nvqos {

/// Returns the time of CLOCK_MONOTONIC_RAW. Clocks that are adjusted may go 0.05 % faster than they
/// should.
inline qos::Ns monotonic_raw() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return static_cast<qos::Ns>(now.tv_sec) * qos::second + now.tv_nsec;
}

/// Between requests it adds the time that has passed by a clock of this machine, less a part in
/// 4,096, because two clocks differ by less than that. So it is late by 0.1 ms at most, and never
/// ahead of the times that the driver records next.
class GpuClock {
  public:
    using Local = std::function<qos::Ns()>; ///< any clock that goes on evenly

    explicit GpuClock(Local local) : local_(std::move(local)) {}

    /// Returns the time. Asks the driver if the last request was 0.4 s ago.
    nvdebug::Result<qos::Ns> now(nvdebug::SwitchReader &reader) {
        constexpr qos::Ns longest_unasked = 400 * qos::ms;
        if (!read_ || local_() - read_at_ >= longest_unasked) {
            const auto now = reader.now_ns();
            if (!now)
                return tl::unexpected(now.error());
            read_ = static_cast<qos::Ns>(*now);
            read_at_ = local_();
        }
        return estimate();
    }

    /// Returns the time without a request to the driver; 0: the driver was not asked yet.
    qos::Ns estimate() const {
        const qos::Ns passed = read_ ? local_() - read_at_ : 0;
        return read_.value_or(0) + passed - passed / 4096;
    }

    /// Returns the time of the clock of this machine at a time of the GPU's.
    qos::Ns local_of(qos::Ns ns) const { return read_at_ + ns - read_.value_or(0); }

    /// Returns how long to wait until estimate() has gone on by @p ns.
    static qos::Ns time_for(qos::Ns ns) { return ns + ns / 4095 + 1; }

  private:
    Local local_;
    std::optional<qos::Ns> read_ = {};
    qos::Ns read_at_ = 0;
};

} // namespace nvqos
