// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Windows for jobs that need several GPUs at once, beside the governors of the GPUs.
///
/// At first each group of jobs that share GPUs (qos::window_groups()) is watched while the
/// governors of its GPUs keep the goals. If all of its gangs run together anyway, it is left as it
/// is. Else windows are tried. They go on unless the record of turns shows that they slow the jobs
/// down (qos::do_windows_help()). After a minute the choice is looked at again.
///
/// While a group has windows, the Keepers of its GPUs read turns and search for tasks, and their
/// governors rest.
#pragma once

#include "keeper.hpp"

namespace simulation {

/// A tenant of a group, with its tasks.
struct GangMember {
    /// A task on its GPU. All was seen since the present state or cycle of windows began.
    struct Rank {
        std::size_t task, gpu;
        std::vector<qos::TurnSpan> turns = {};
        qos::RankWindows had = {};
        std::int64_t gave_way = 0; ///< ReadTurn::gave_way, in its windows
    };
    std::size_t job;
    std::vector<Rank> ranks = {};
};

/// Jobs that are linked by the GPUs which they share.
struct GangGroup {
    enum class State {
        watched, ///< as it is, until it is known whether windows are needed
        tried,   ///< has windows, which are compared with the time before
        windows, ///< has windows
        left,    ///< as it is, because windows are not needed or do not help
    };
    State state = State::watched;
    Ns since = 0;                                 ///< the state
    std::vector<qos::GangTenant> tenants = {};    ///< in the order of names
    std::vector<GangMember> members = {};         ///< by tenant
    std::vector<std::size_t> gpus = {};           ///< in order
    std::vector<qos::TenantProgress> before = {}; ///< by tenant, without windows
    qos::WindowNeed need = qos::WindowNeed::none;
    Ns stands_for = 0; ///< State::windows and left, if there is a need: until it is looked at again
    qos::WindowPlan plan = {};
    std::size_t row = 0;
    Ns counted_at = 0; ///< turns until then were counted

    bool has_windows() const { return state == State::tried || state == State::windows; }
};

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
    /// Returns why a job has windows or none; empty: it is no gang, or nobody is on its GPUs.
    const std::string &why(std::size_t job) const { return why_[job]; }

  private:
    std::vector<GangGroup> find_groups() const;
    void regroup(Ns now, Driver &driver);
    void count_turns(GangGroup &group, Ns now, Driver &driver);
    bool is_busy(const GangGroup &group) const;
    Ns due_of(const GangGroup &group) const;
    void enter(GangGroup &group, GangGroup::State state, Ns now, Driver &driver);
    void judge(GangGroup &group, Ns now, Driver &driver);
    void step_windows(GangGroup &group, Ns now, Driver &driver);
    void settle(GangGroup &group);
    void ask_for_row(GangGroup &group, Driver &driver);
    void restore(const GangGroup &group, Driver &driver);
    void note_windows(const GangGroup &group, bool begin, Ns now);
    std::string reason(const GangGroup &group, std::size_t tenant) const;

    /// A time in which a job had windows.
    struct Stretch {
        Ns begin, end; ///< end: never while it goes on
    };

    const Scenario &scenario_;
    std::vector<Keeper> &keepers_; ///< by GPU
    std::vector<Task> tasks_;
    bool has_gangs_ = false;
    std::vector<GangGroup> groups_;
    Ns looked_at_ = 0;                             ///< when the set of tasks was looked at
    std::vector<std::vector<Stretch>> in_windows_; ///< by job
    std::vector<std::string> why_;                 ///< by job
};

} // namespace simulation
