// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps the goals on one GPU: reads turns, sets the timeslices and pauses that a
/// qos::Governor decides, and limits launches beside a service.
#pragma once

#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gpu_clock.hpp"
#include "launches.hpp"
#include "lib/qos/asking.hpp"
#include "lib/qos/dependence.hpp"
#include "lib/qos/governor.hpp"
#include "marks.hpp"
#include "missed.hpp"
#include "nvdebug/nvdebug.hpp"
#include "tools/nvqos/goals.hpp"

namespace nvqos {

/// Tasks of a tenant with a limit of launches in flight.
struct Limited {
    std::size_t tasks = 0;
    std::uint32_t launches = 0; ///< the smallest limit; 0: no task has one
};

/// Another tenant that can break a goal.
struct Condition {
    std::string tenant; ///< its name
    qos::Dependence::Why why;
};

/// A tenant in a line of a report. The last line has all tasks without a tenant.
struct TenantReport {
    std::string name; ///< `others`: tasks without a tenant
    qos::Goal goal;
    qos::Record record;
    qos::Ns credit;
    qos::Lever lever;
    std::size_t tasks;        ///< processes with a context
    std::int64_t tsgs;        ///< that compete for the GPU
    std::uint64_t violations; ///< epochs in which the goal was not kept, since nvqos began
    std::int64_t waits = 0;   ///< between turns while it had work, since nvqos began
    std::optional<qos::Ns> wait_p99 = {}; ///< of them; empty: too few
    qos::Ns longest_wait = 0;
    std::size_t held = 0; ///< of its tasks, those with timeslices and pauses that are set
    Limited limited = {};
    std::size_t paced = 0; ///< of its tasks, those with launches counted or held for a speed
    std::optional<Pace> pace = {};         ///< if its speed is kept by launches
    int tpcs = 0;                          ///< those that its paced tasks have; 0: all
    std::optional<Requests> requests = {}; ///< of a service, if nvtaskset started it
    std::vector<Condition> depends = {};
    std::optional<qos::Part> got = {}; ///< of the last second; empty: not known, or too little time
    bool is_measured = false; ///< record.kept is what was seen over a second, and no promise
};

/// Was its goal kept over the last second? Empty: it has no process, so that there was nothing to
/// keep, or another tenant can break the goal and nothing was measured so far.
inline std::optional<bool> kept(const TenantReport &tenant) {
    if (!tenant.record.kept)
        return false;
    return tenant.tasks && (tenant.depends.empty() || tenant.is_measured) ? std::optional(true)
                                                                          : std::nullopt;
}

struct Report {
    std::uint32_t gpu;
    qos::EpochRecord epoch;
    std::vector<TenantReport> tenants;
    std::uint64_t lost; ///< switches that the driver did not record, since nvqos began
    /// With EpochRecord::overcommitted: since when, UTC, and a sentence on what does not fit.
    std::string cut_since = {}, why_cut = {};
};

/// What a tenant had of a GPU since its goal is kept.
struct Use {
    qos::Ns time = 0, used = 0;
    std::optional<qos::Part> part = {}; ///< qos::part_of() of these
    qos::Waits waits = {};              ///< for its turns, while it had work
};

/// The same, by Tenant::family.
struct FamilyUse {
    std::shared_ptr<Family> family;
    Use use;
};

class Warden {
  public:
    struct Options {
        bool dry_run = false;
        /// Goals that cannot be kept together are a warning, and no failure.
        bool takes_any_goals = false;
        std::chrono::milliseconds patience{1000}; ///< nvdebug::HoldOptions
        /// How often a hold is asked for at least; empty: four times within the patience.
        std::optional<std::chrono::milliseconds> beat = {};
        /// Without a switch that shows a context which is not known, tasks are looked for so often;
        /// each 5 s under MPS, whose clients' contexts no switch shows.
        qos::Ns longest_unlooked = 60 * qos::second;
        GpuClock::Local clock = {}; ///< empty: CLOCK_MONOTONIC_RAW
        Marks *marks = nullptr;     ///< of its goals; it outlives the warden
        /// All processes, read once in each search.
        std::function<std::vector<nvdebug::base::ProcessState>()> processes =
            nvdebug::base::all_processes;
        std::optional<std::uint32_t> index = {}; ///< by which the GPU is named; empty: nvdebug's
        /// How tasks are searched for; deferred: in step() and start(), as they come to it.
        std::launch searches = std::launch::async | std::launch::deferred;
    };

    /// Fails if the GPU's switches cannot be followed, or goals cannot be kept. Changes nothing on
    /// the GPU.
    /// @param warn is called once for each sentence
    static Outcome<std::unique_ptr<Warden>> start(nvdebug::Gpu gpu, const Asked &asked,
                                                  const Options &options, Warn warn);

    Warden(const Warden &) = delete;
    Warden &operator=(const Warden &) = delete;
    /// Restores all tasks, and waits for a search that goes on.
    ~Warden();
    /// The same without waiting; nothing but the end may follow.
    void let_go();

    /// Reads the switches since the last step, decides, and changes tasks. Returns the epoch that
    /// ended, if one did.
    Outcome<std::optional<Report>> step();
    /// How long until the next step().
    qos::Ns wait();
    /// Replaces all goals; tenants that stay with the same goal keep what they are owed. Fails if
    /// the new ones cannot be kept, and leaves the old ones in effect.
    Outcome<void> set_goals(const Asked &asked);
    /// The same, whether they can be kept or not: with less to keep than before.
    void put_goals(const Asked &asked);
    /// Finds out anew which task is which tenant's.
    void divide();
    /// Of each tenant that has a family.
    std::vector<FamilyUse> uses() const;

    /// Returns a sentence for each goal that cannot be kept.
    std::vector<std::string> refusals() const;
    /// The goals that were not kept at the end of some epochs.
    std::vector<Missed> missed() const;
    /// Returns the report of an empty epoch, for --dry-run.
    Report plan() const;
    /// A sentence for each tenant with enough waits: what they took.
    std::vector<std::string> waits() const;
    /// By tenant: has it tasks?
    std::vector<bool> has_tasks() const;
    /// Does a process that the family knows use this GPU, as one of no tenant that is held?
    bool has_unheld_tasks_in(const Family &family) const;

  private:
    struct Task {
        nvdebug::Process process;
        std::size_t tenant = 0;
        std::vector<nvdebug::HeldChannel> channels = {}; ///< as they were last listed, or none
        bool is_to_be_held = false;
        bool is_gone = false; ///< it has no channels, found so since they were listed
        /// Of its first channels, and of those that it made later.
        std::vector<std::unique_ptr<nvdebug::TaskHold>> holds = {};
        std::optional<bool> has_turns = {};           ///< could it be held? Empty: not tried so far
        std::string why_not = {};                     ///< it, or some channels, are not held
        std::optional<nvdebug::TaskState> asked = {}; ///< what all holds were last asked for
        qos::Ns asked_at = 0;
        std::optional<qos::Ns> paused_since = {}; ///< when the driver had confirmed the pause
        bool recorded = false; ///< a switch of it was read, or show_on_record() has made one
        bool has_page = false; ///< it was looked for
        std::shared_ptr<nvtaskset::Page> page = nullptr; ///< Launcher::page

        void let_go() {
            holds.clear();
            asked.reset();
            paused_since.reset();
        }
        /// Of which no channel is listed any more.
        void drop_empty_holds();
        nvdebug::Result<void> ask(const nvdebug::TaskState &state);
        nvdebug::Result<void> finish();
        std::size_t tsgs() const;
        std::vector<nvdebug::HeldChannel> held() const;
    };

    /// What another thread has found.
    struct Found {
        nvdebug::Result<nvdebug::Owners> owners;
        /// Launcher::page, of those that were not looked for before.
        std::map<nvdebug::base::Birth, std::shared_ptr<nvtaskset::Page>> pages = {};
    };

    Warden(nvdebug::Gpu gpu, const Asked &asked, const Options &options, Warn warn);
    Outcome<void> read_clock();
    Outcome<void> read();
    void take(std::vector<nvdebug::Turn> &turns, bool ends);
    std::size_t tenant_of(const nvdebug::Process &process) const;
    Task &task_of(std::uint32_t pid);
    bool is_searching() const;
    void look();
    void begin_search();
    /// Of a search that is over. Returns whether turns were read.
    Outcome<bool> take_found();
    Outcome<void> find_tasks();
    void grow_trees();
    std::function<Found()> search() const;
    void take_owners(const nvdebug::Owners &owners);
    void take_holds(nvdebug::Result<nvdebug::TaskHolds> &holds);
    void lose(Task &task, const nvdebug::Error &error);
    nvdebug::Result<void> show_on_record(Task &task);
    void count_tsgs();
    void take_goals(const Asked &asked);
    void put_levers();
    void apply(qos::Ns now);
    void keep_launches();
    void judge_launches(qos::EpochRecord &epoch) const;
    const qos::Goal &goal_of(std::size_t tenant) const;
    std::size_t held_of(std::size_t tenant) const;
    Limited limited_of(std::size_t tenant) const;
    std::size_t paced_of(std::size_t tenant) const;
    int tpcs_of(std::size_t tenant) const;
    nvdebug::TaskState wanted(const Task &task) const;
    void warn_once(const std::string &sentence);
    void note_missed(const qos::EpochRecord &epoch);
    std::string why_cut() const;
    std::optional<qos::Part> got_of(std::size_t tenant, const qos::Record &record) const;
    bool is_measured(std::size_t tenant, const qos::Record &record) const;
    Report report(qos::EpochRecord epoch) const;

    const nvdebug::Gpu gpu_;
    const std::uint32_t number_; ///< Options::index
    Asked asked_;
    const Options options_;
    const Warn warn_;
    std::set<std::string> warned_;
    std::optional<std::uint32_t> runlist_; ///< of GR0
    bool sets_timeslices_ = false;
    bool has_goals_ = false;            ///< else no task is touched
    std::shared_ptr<const void> claim_; ///< on this GPU

    std::optional<Launches> launches_; ///< but for --dry-run
    GoalMarks marks_;

    std::unique_ptr<nvdebug::SwitchReader> reader_;
    nvdebug::SwitchTurns turns_{std::nullopt};
    std::vector<nvdebug::ContextSwitch> batch_;
    std::vector<nvdebug::Turn> found_;
    std::uint64_t lost_ = 0, last_switch_ = 0;
    GpuClock clock_;
    qos::Ns now_ = 0;

    std::optional<qos::Governor> governor_;
    qos::Ns due_ = std::numeric_limits<qos::Ns>::max(); ///< when step() was to be called at last
    qos::PauseTime pause_time_;
    std::vector<Missed> missed_;          ///< by tenant, also those with none
    std::vector<Missed> past_missed_;     ///< of tenants that are there no more
    std::string cut_since_;               ///< Report::cut_since; empty: promises fit
    std::vector<qos::Ns> used_, since_;   ///< by tenant: Use::used, and when that began
    std::map<std::uint32_t, Task> tasks_; ///< by pid
    /// By pid and context: when the last part of a turn ended.
    std::map<std::pair<std::uint32_t, std::uint32_t>, qos::Ns> contexts_;
    std::map<std::uint32_t, std::uint64_t>
        meant_; ///< by pid in the goals: when that process started
    std::set<std::uint32_t>
        passed_over_; ///< pids that had the GPU and are not in the driver's list of owners
    bool look_needed_ = true, has_mps_ = false;
    qos::Ns looked_at_ = 0; ///< when the last search for tasks began
    /// One at a time, in another thread. A search has all that it needs itself.
    std::future<Found> looking_;
    Trees trees_; ///< of all-of: in the goals
    std::future<nvdebug::Result<nvdebug::TaskHolds>> holding_;
    std::vector<std::uint32_t> held_; ///< of holding_, in its order
};

} // namespace nvqos
