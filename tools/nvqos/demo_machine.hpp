// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The machine of `nvqos --demo`: three tasks on a simulated GPU, and goals for them.
///
/// The GPU and the programs of the tasks are those of lib/simulation, with the same governor as on
/// hardware. A goal names the tasks as it names processes on a real machine. Time passes only in
/// run_until(), so the caller decides how fast it passes.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "goals.hpp"
#include "lib/simulation/keeper.hpp"
#include "lib/simulation/machine.hpp"
#include "report.hpp"
#include "tools/nvqos/keep/missed.hpp"

namespace nvqos {

/// The goals that a demo without goals of its own keeps: the example of README.md.
inline constexpr const char *demo_goals[] = {"command:serve=latency,cap:60%",
                                             "container:3f2a=share:30%", "others=best-effort"};

class DemoMachine : simulation::Controller {
  public:
    /// Fails if a goal names none of the tasks. The sentence lists them.
    static Outcome<std::unique_ptr<DemoMachine>> make(const Goals &goals);
    ~DemoMachine() override = default;
    DemoMachine(const DemoMachine &) = delete;
    DemoMachine &operator=(const DemoMachine &) = delete;

    /// Lets the simulated time pass until @p end, in ns since the start. Returns the reports of the
    /// epochs that ended, as a GpuGoals reports them on a GPU.
    std::vector<Report> run_until(qos::Ns end);
    /// Returns a sentence on what the tasks' programs count themselves: how many requests or steps
    /// a second ended, and how long they took.
    std::string progress() const;
    /// Returns an entry for each tenant, the last one for the tasks without a tenant.
    const std::vector<Missed> &missed() const { return missed_; }

  private:
    /// The requests or steps of a task that ended in the last 10 s.
    struct Passes {
        struct One {
            qos::Ns end, took;
        };
        std::deque<One> recent;
        qos::Waits took; ///< the times of all passes since the start
    };

    DemoMachine(const Goals &goals, std::vector<std::size_t> tenants);
    void begin(const std::vector<simulation::Task> &tasks) override;
    qos::Ns due() const override { return keeper_.due(); }
    void step(qos::Ns now, simulation::Driver &driver) override { keeper_.step(now, driver); }
    void served(const simulation::Request &request, qos::Ns now) override {
        keeper_.served(request, now);
    }
    void take_passes(qos::Ns now);
    std::optional<Requests> requests_of(std::size_t tenant, qos::Ns now) const;
    void add_report(qos::EpochRecord epoch, const qos::Governor &governor);

    const Goals goals_;
    const std::vector<std::size_t> tenants_; ///< the tenant of each task
    const simulation::Scenario scenario_;
    std::vector<Missed> missed_;
    std::string cut_since_; ///< Report::cut_since; empty: promises fit
    std::vector<Passes> passes_;
    std::vector<Report> reports_; ///< since run_until() began
    simulation::Keeper keeper_;
    simulation::Machine machine_; ///< refers to this object, so it is made last
};

} // namespace nvqos
