// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows by the clock (lib/qos/clock_plan.hpp) on simulated GPUs of several nodes. Each
/// node has a clock of its own, which is ahead by up to Gpus::skew, and a driver of its own.
///
/// Jobs have their windows from the beginning on, without a time of watching and without debts. A
/// job of one node that shares no GPU with a job of several nodes is left as it is.
#pragma once

#include "controller.hpp"
#include "lib/qos/clock_plan.hpp"

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
    bool has_windows(std::size_t job) const;
    /// Returns a sentence without a dot on the windows of a job; empty: it shares no GPU with a job
    /// of several nodes.
    std::string why(std::size_t job) const;

  private:
    struct LeverOfTask {
        std::size_t gpu;
        Ns timeslice; ///< that was asked for
        bool paused = false;
    };
    struct Member {
        std::size_t job;
        std::vector<std::size_t> tasks;
    };
    /// Tenants of one node that are linked by their GPUs.
    struct Group {
        Ns ahead = 0; ///< of the node's clock
        std::vector<qos::GangTenant> tenants = {};
        std::vector<Member> members = {};     ///< by tenant
        std::vector<std::uint32_t> gpus = {}; ///< in order
        qos::WindowPlan plan = {};
        Ns due = 0; ///< the next row begins
    };

    void add_groups_of(std::size_t node, Ns ahead, const std::vector<Task> &tasks);
    void ask_for_row(const Group &group, Ns now, Driver &driver);
    void carry(std::size_t task, const qos::WindowLever &lever, Driver &driver);

    const Scenario &scenario_;
    std::vector<LeverOfTask> levers_; ///< by task
    std::vector<Group> groups_;
};

} // namespace simulation
