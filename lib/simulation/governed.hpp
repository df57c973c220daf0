// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file nvqos' own control of all GPUs: a Keeper for each, and windows for gangs. nvqos runs from
/// the beginning on.
#pragma once

#include "gangs.hpp"
#include "measures.hpp"

namespace simulation {

class Governed : public Controller {
  public:
    explicit Governed(const Scenario &scenario) : scenario_(scenario), gangs_(scenario, keepers_) {}

    void begin(const std::vector<Task> &tasks) override;
    Ns due() const override;
    void step(Ns now, Driver &driver) override;
    void marked(std::size_t task, bool busy, Ns now) override;
    void served(const Request &request, Ns now) override;
    const std::vector<Keeper> &keepers() const { return keepers_; }
    const Gangs &gangs() const { return gangs_; }
    /// Adds RankUse::verdicts to what the run has shown.
    void add_verdicts(Measures &seen) const;

  private:
    Ns first_timeslice(std::size_t job) const;

    const Scenario &scenario_;
    std::vector<Keeper> keepers_;   ///< by GPU
    std::vector<std::size_t> gpus_; ///< by task
    Gangs gangs_;
};

} // namespace simulation
