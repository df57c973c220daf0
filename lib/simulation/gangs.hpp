// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows for jobs that need several GPUs at once, beside the governors of the GPUs. A
/// qos::WindowKeeper decides. It gets the jobs and turns of the simulated GPUs, and its orders
/// are carried out by their Keepers.
///
/// While a GPU has windows, its Keeper reads turns and searches for tasks, and its governor rests.
#pragma once

#include "keeper.hpp"
#include "lib/qos/window_keeper.hpp"

namespace simulation {

class Gangs {
  public:
    /// @param scenario, keepers outlive this object
    Gangs(const Scenario &scenario, std::vector<Keeper> &keepers)
        : scenario_(scenario), keepers_(keepers) {}

    /// Takes the tasks once there is a Keeper for each GPU.
    void begin(const std::vector<Task> &tasks);
    /// Returns when step() is to be called; never, if no job is a gang.
    Ns due() const;
    void step(Ns now, Driver &driver);

    /// Returns for how long a job had windows from @p begin until @p end.
    Ns time_in_windows(std::size_t job, Ns begin, Ns end) const;
    /// Returns why a job has windows or none, and after it has ended, why it had. Empty: it is no
    /// gang, or no other job was on its GPUs.
    const std::string &why(std::size_t job) const { return seen_[job].why; }

  private:
    /// A time in which a job had windows.
    struct Stretch {
        Ns begin, end; ///< end: never while it goes on
    };
    struct Seen { ///< of a job
        std::vector<Stretch> in_windows = {};
        std::string why = {};
    };

    void look(Ns now);
    bool is_busy() const;
    std::vector<qos::WindowTurns> read_turns(Driver &driver);
    void carry_out(const std::vector<qos::WindowOrder> &orders, Ns now, Driver &driver);
    void carry_out(std::uint32_t gpu, const std::vector<qos::TenantLever> &levers, Driver &driver);
    void restore(std::uint32_t gpu, Driver &driver);
    void note(Ns now);
    const Job &job_of(std::size_t task) const { return scenario_.jobs[tasks_[task].job]; }

    const Scenario &scenario_;
    std::vector<Keeper> &keepers_; ///< by GPU
    std::vector<Task> tasks_;
    bool has_gangs_ = false;
    qos::WindowKeeper windows_;
    Ns looked_at_ = 0; ///< when the set of tasks was looked at
    std::vector<Seen> seen_;
};

} // namespace simulation
