// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps the goals on one GPU. In each step it reads turns (Turns), has a qos::Governor
/// decide timeslices and pauses of the tenants (Tenants), sets these for their tasks (Levers,
/// Tasks), and limits launches beside a service (LaunchLevers). While a tenant that needs several
/// GPUs at once has windows, these decide timeslices and pauses (Windows). The governor then goes on
/// for epochs and reports alone.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine_marks.hpp"
#include "gang_board.hpp"
#include "gpu_report.hpp"
#include "launch_levers.hpp"
#include "levers.hpp"
#include "machine_plan.hpp"
#include "marks.hpp"
#include "recorded_governor.hpp"
#include "tasks.hpp"
#include "tenants.hpp"
#include "turns.hpp"
#include "warnings.hpp"
#include "windows.hpp"

namespace nvqos {

class GpuGoals {
  public:
    struct Options {
        bool dry_run = false;
        /// Goals that cannot be kept together are a warning, and no failure.
        bool takes_any_goals = false;
        std::chrono::milliseconds patience{1000}; ///< nvdebug::HoldOptions
        /// The longest time between requests for a task; empty: a quarter of the patience.
        std::optional<std::chrono::milliseconds> beat = {};
        qos::Ns longest_unlooked = 60 * qos::second; ///< Tasks::Options
        GpuClock::Local clock = {};                  ///< empty: CLOCK_MONOTONIC_RAW
        Marks *marks = nullptr; ///< gets marks of its goals; outlives this object
        std::function<std::vector<nvdebug::base::ProcessState>()> processes =
            nvdebug::base::all_processes; ///< Tasks::Options
        /// The plan of all GPUs, which has the decisions for this one; empty: a plan of its own.
        std::shared_ptr<MachinePlan> plan = {};
        /// Gets the tenants of this GPU for windows; null: there are no windows.
        std::shared_ptr<GangBoard> gangs = {};
        /// The marks of engines that they are busy or idle; null: none can be made.
        std::shared_ptr<const EngineMarks> engine_marks = {};
        /// The record of all decisions; null: there is none.
        std::shared_ptr<Decisions> decisions = {};
        /// The GPU's number in reports and warnings; empty: nvdebug's.
        std::optional<std::uint32_t> index = {};
        /// Tasks::Options; deferred: tasks are searched for in step() and start().
        std::launch searches = std::launch::async | std::launch::deferred;
    };

    /// Fails if the GPU's switches cannot be followed, or goals cannot be kept. Changes nothing on
    /// the GPU.
    /// @param warn is called once for each sentence
    static Outcome<std::unique_ptr<GpuGoals>> start(nvdebug::Gpu gpu, const Goals &goals,
                                                    const Options &options, Warn warn);

    GpuGoals(const GpuGoals &) = delete;
    GpuGoals &operator=(const GpuGoals &) = delete;
    /// Restores all tasks, and waits for a search that goes on.
    ~GpuGoals();
    /// Restores all tasks without waiting for a search; nothing but the end may follow.
    void let_go();

    /// Reads the switches since the last step, decides, and changes tasks. Returns the epoch that
    /// ended, if one did.
    Outcome<std::optional<Report>> step();
    /// Returns how long until the next step(), half of the patience at most: the keepers' patience
    /// is of the first epoch, and a later epoch may be longer.
    qos::Ns wait();
    /// Replaces all goals; tenants that stay with the same goal keep what they are owed. Fails if
    /// the new goals cannot be kept, and leaves the old ones in effect.
    Outcome<void> set_goals(const Goals &goals);
    /// Replaces all goals, whether they can be kept or not: there is less to keep than before.
    void put_goals(const Goals &goals);
    /// Assigns each task to its tenant again, after processes of a Family have changed.
    void assign_tenants();
    /// Returns the turns since the last call for a qos::WindowKeeper, with times of Options::clock.
    Outcome<std::vector<qos::WindowTurn>> take_window_turns();
    /// Sets levers of an order. From now on windows decide over timeslices and pauses: the last
    /// lever of each tenant stays, and requests for it are repeated in steps.
    /// @param levers by Tenants::keys(); tenants that are not here are left out
    Outcome<void> set_windows(std::span<const qos::TenantLever> levers);
    /// Lets the governor decide again: a new one, which owes nothing.
    Outcome<void> end_windows();
    /// Returns what each tenant with a family had.
    std::vector<FamilyUse> uses() const;

    /// Returns a sentence for each goal that cannot be kept.
    std::vector<std::string> refusals() const;
    /// Returns the goals that were not kept, or could not be seen, at the end of some epochs.
    std::vector<Missed> missed() const { return tenants_.missed(); }
    /// Returns the report of an empty epoch, for --dry-run.
    Report plan() const;
    /// Returns a sentence for each tenant with enough waits: what they took.
    std::vector<std::string> waits() const;
    /// Returns by tenant whether it has tasks, without the tasks of no tenant.
    std::vector<bool> has_tasks() const;
    /// Tasks::has_unheld_in()
    bool has_unheld_tasks_in(const Family &family) const { return tasks_.has_unheld_in(family); }

  private:
    /// The parts that start() opens before goals can be kept.
    struct Parts;

    GpuGoals(Parts parts, const Goals &goals, const Options &options, Warn warn);
    Outcome<void> begin();
    RecordedGovernor make_governor(qos::Ns now) const;
    qos::Planner planner() const;
    Outcome<void> read_turns();
    Outcome<void> read_before_pauses_end();
    std::vector<WantedLever> wanted_levers() const;
    std::vector<WantedLever> governors_levers() const;
    void judge_windows(qos::EpochRecord &epoch) const;
    void tell_tenants();
    void count_tsgs();
    void set_marks();
    std::optional<EngineTimes> engine_times(std::size_t tenant) const;
    void judge_engines(qos::EpochRecord &epoch) const;
    void set_levers();
    std::vector<std::optional<std::size_t>> replace_tenants(const Goals &goals);
    void take_over(const Goals &before, std::span<const std::optional<std::size_t>> was);
    void note_kept(const qos::EpochRecord &epoch);
    std::string why_cut() const;
    std::optional<qos::Part> part_of_second(std::size_t tenant, const qos::Record &record) const;
    bool is_measured(std::size_t tenant, const qos::Record &record) const;
    std::optional<WhyNot> why_not(std::size_t tenant, const qos::Record &record, bool is_cut) const;
    qos::Lever lever_of(std::size_t tenant, const WantedLever &wanted) const;
    Report report(qos::EpochRecord epoch) const;

    const std::uint32_t number_; ///< Options::index
    const Options options_;
    std::shared_ptr<const void> claim_; ///< no other program keeps goals on this GPU
    Warnings warnings_;
    GoalMarks marks_;
    Tenants tenants_;
    Turns turns_;
    Tasks tasks_;
    Levers levers_;
    Windows windows_;
    std::vector<qos::TenantOnGpu> told_;   ///< to the GangBoard
    std::optional<LaunchLevers> launches_; ///< none with --dry-run
    RecordedGovernor governor_;
    qos::Ns due_ = std::numeric_limits<qos::Ns>::max(); ///< when the next step is due
    std::string cut_since_;                             ///< Report::cut_since; empty: promises fit
    std::optional<qos::Ns> gap_at_;                     ///< when switches were last lost
};

} // namespace nvqos
