// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows by the clock (lib/qos/clock_keeper.hpp) on simulated GPUs of several nodes. Each
/// node has a clock of its own, which is ahead by up to Gpus::skew, and a driver of its own.
///
/// Jobs have their windows from the beginning on. A job of one node that shares no GPU with a job
/// of several nodes is left as it is.
#pragma once

#include <map>
#include <utility>

#include "controller.hpp"
#include "lib/qos/clock_keeper.hpp"

namespace simulation {

/// Returns by how much the clock of each node is ahead, from 0 to Gpus::skew.
std::vector<Ns> clocks_ahead(const Gpus &gpus, std::uint64_t seed);

class ClockWindows : public Controller {
  public:
    /// @param scenario outlives this object
    explicit ClockWindows(const Scenario &scenario) : scenario_(scenario) {}

    void begin(const std::vector<Task> &tasks) override;
    Ns due() const override;
    void step(Ns now, Driver &driver) override;
    void served(const Request &, Ns) override {}

    /// Returns whether the job has windows.
    bool has_windows(std::size_t job) const { return part_of(job).value_or(0) > 0; }
    /// Returns a sentence without a dot on the windows of a job; empty: it shares no GPU with a job
    /// of several nodes.
    std::string why(std::size_t job) const;

  private:
    struct LeverOfTask {
        Ns timeslice; ///< that was asked for
        bool paused = false;
    };
    struct Node {
        Ns ahead = 0; ///< its clock
        qos::ClockKeeper keeper = qos::ClockKeeper();
        std::map<std::pair<std::string, std::uint32_t>, std::size_t> tasks = {}; ///< by tenant, GPU
    };

    std::string tenant_of(std::size_t job, std::size_t gpu) const;
    std::optional<Part> part_of(std::size_t job) const;
    void carry(std::size_t task, const qos::WindowLever &lever, Driver &driver);

    const Scenario &scenario_;
    std::vector<LeverOfTask> levers_; ///< by task
    std::vector<Node> nodes_;
};

} // namespace simulation
