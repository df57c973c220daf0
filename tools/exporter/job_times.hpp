// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How much jobs on several GPUs run together, over the meters of all GPUs.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "meter.hpp"
#include "nvdebug/jobs.hpp"

namespace nvdebug::exporter {

/// Measures jobs over one time after the other. One thread makes steps; any thread may ask.
class JobTimesOfNode {
  public:
    /// @param length of a time; the result of the last whole one is shown
    explicit JobTimesOfNode(std::chrono::milliseconds length = std::chrono::seconds(10))
        : length_(length) {}

    /// Takes the turns of all meters since the last step.
    void step(const Meters &meters);
    /// Sets TaskFacts::together of the tasks that are of jobs.
    void add_to(Facts &facts) const;

  private:
    const std::chrono::milliseconds length_;
    Meter::Clock::time_point begin_ = Meter::Clock::now();
    JobMeter meter_;

    mutable std::mutex mutex_;                                           ///< protects together_
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> together_; ///< by GPU and pid
};

} // namespace nvdebug::exporter
