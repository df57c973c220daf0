// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tasks on one GPU: which processes have a context there, whose tenant's they are, and
/// the holds by which their timeslices and pauses are set.
///
/// A switch of an unknown process or context begins a search for the channels of all processes. A
/// task whose channels have changed is then held (nvdebug::TaskHold). Both are done in another
/// thread: while processes start or end, a request to the driver took up to 40 ms on an H200, and a
/// search takes hundreds. There is one search at a time, and it has all that it needs itself.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu_report.hpp"
#include "nvdebug/identity.hpp"
#include "nvdebug/nvdebug.hpp"
#include "tenants.hpp"
#include "turns.hpp"
#include "warnings.hpp"

namespace nvtaskset {
class Page;
}

namespace nvqos {

/// The timeslice of a task for which nobody has set one (measured on an H100 with 580.159.04).
inline constexpr qos::Ns drivers_timeslice = 2 * qos::ms;

/// A process with a context on the GPU.
struct Task {
    nvdebug::Process process;
    nvdebug::Identity id = {}; ///< of the process, by the last search
    std::size_t tenant = 0;
    std::vector<nvdebug::HeldChannel> channels = {}; ///< as they were last listed, or none
    bool is_to_be_held = false;
    bool is_gone = false; ///< it was found to have no channels since they were listed
    /// One hold for its first channels, and others for channels that it made later.
    std::vector<std::unique_ptr<nvdebug::TaskHold>> holds = {};
    std::optional<bool> has_turns = {}; ///< it could be held; empty: that was not tried so far
    std::string why_not = {};           ///< a sentence if some of its channels are not held
    bool recorded = false;              ///< a switch of it was read, or Levers put it on the record
    bool has_page = false;              ///< its page was looked for
    std::shared_ptr<nvtaskset::Page> page = nullptr; ///< Launcher::page

    /// The last request to all of its holds.
    struct Asked {
        std::optional<nvdebug::TaskState> state = {}; ///< empty: nothing, or not of all holds
        qos::Ns at = 0;
        std::optional<qos::Ns> paused_since = {}; ///< when the driver had confirmed the pause
    } asked = {};

    /// Ends its holds, which restores it.
    void let_go();
    /// Ends each hold that has no channel left in `channels`.
    void drop_empty_holds();
    nvdebug::Result<void> ask(const nvdebug::TaskState &state);
    /// Waits until the driver has done what ask() asked for.
    nvdebug::Result<void> finish();
    std::size_t tsgs() const;
    /// Returns the channels of all its holds.
    std::vector<nvdebug::HeldChannel> held() const;
};

class Tasks {
  public:
    struct Options {
        bool holds = true;       ///< else tasks are found and left alone (--dry-run)
        bool wants_pages = true; ///< also looks for the pages that nvtaskset shares with them
        std::chrono::milliseconds patience{1000};  ///< nvdebug::HoldOptions
        std::optional<std::uint32_t> runlist = {}; ///< of GR0, if lists can be read
        /// The time between searches without a switch that shows an unknown context. It is 5 s at
        /// most under MPS, whose clients' contexts no switch shows.
        qos::Ns longest_unlooked = 60 * qos::second;
        /// Returns all processes, for one search.
        std::function<std::vector<nvdebug::base::ProcessState>()> processes =
            nvdebug::base::all_processes;
        /// Returns when a process was started. Called for the first turn of a process, so it has to
        /// be fast.
        std::function<std::optional<std::uint64_t>(std::uint32_t pid)> started = {};
        /// How tasks are searched for; deferred: in the thread that takes the results.
        std::launch searches = std::launch::async | std::launch::deferred;
    };

    /// @param tenants, warnings outlive the tasks
    Tasks(nvdebug::Gpu gpu, const Tenants &tenants, Options options, Warnings &warnings);

    /// Notes a turn of a process, and returns it as a turn of the process' tenant. A paused task's
    /// turn ends with the pause at the latest, because the driver may not record its end.
    qos::TenantTurn take(const TaskTurn &turn);
    /// Notes that switches were lost, so that no task is known to be on the record.
    void mark_gap();
    /// Assigns each task to its tenant again, after the tenants or their processes have changed.
    void assign_tenants();
    /// Lets all tasks go, and holds them with the next search if the goals ask for anything.
    void hold_again();
    /// Lets a task go that could not be changed, and searches for it again.
    void give_up(Task &task, const nvdebug::Error &error);
    /// Lets all tasks go, at the end.
    void clear() { tasks_.clear(); }

    /// The result of a search for the channels of all processes.
    struct Found {
        nvdebug::Result<nvdebug::Owners> owners;
        /// Launcher::page of each process whose page was not looked for before.
        std::map<nvdebug::base::Birth, std::shared_ptr<nvtaskset::Page>> pages = {};
    };

    bool is_searching() const { return finding_.valid() || holding_.valid(); }
    /// Takes the result of a search that is over. Keeps holds, and returns a list of all processes.
    /// The caller reads turns, which may be of tasks that have ended, and then calls take_found()
    /// with the list. Fails if the GPU is gone.
    Outcome<std::optional<Found>> take_result();
    void take_found(const Found &found);
    /// Begins to hold tasks that were found, or to search for others when that is due.
    void search(qos::Ns now);
    /// Searches, and holds what is found, until nothing is left to be done.
    Outcome<void> find_all(qos::Ns now);

    std::map<std::uint32_t, Task> &all() { return tasks_; } ///< by pid
    const std::map<std::uint32_t, Task> &all() const { return tasks_; }
    /// Returns how many tasks a tenant has.
    std::size_t count(std::size_t tenant) const;
    /// Returns the containers and pods of a tenant's tasks.
    std::vector<TasksInContainer> containers(std::size_t tenant) const;
    /// Returns how many of a tenant's tasks have timeslices and pauses of their own. Clients of an
    /// MPS server have one timeslice in common, which is not set. With --dry-run no task is held,
    /// and all tasks count.
    std::size_t held(std::size_t tenant) const;
    /// Returns whether the turns of a tenant's tasks are on the record: it has a task that is held,
    /// and none that cannot be held, as a client of an MPS server.
    bool are_seen(std::size_t tenant) const;
    /// Returns the timeslice that was last asked for a task, and else the one that the driver gives.
    qos::Ns timeslice(std::uint32_t pid) const;
    /// Returns by tenant how many TSGs compete for the GPU. A task that is known by a turn alone
    /// counts from the next search on.
    const std::vector<std::int64_t> &tsgs() const { return tsgs_; }
    /// Returns whether a process of the family uses this GPU as a task of no tenant with a family.
    bool has_unheld_in(const Family &family) const;

  private:
    /// The result of a search that holds tasks.
    struct Held {
        std::vector<std::uint32_t> pids; ///< of the tasks, in the order of their holds
        nvdebug::Result<nvdebug::TaskHolds> holds;
    };

    std::size_t tenant_of(const nvdebug::Process &process) const;
    Task &task_of(std::uint32_t pid);
    void follow_trees();
    void begin_to_find(qos::Ns now);
    std::function<Found()> finder() const;
    void take_owners(const nvdebug::Owners &owners);
    void take_holds(Held &held);
    void count_tsgs();

    const nvdebug::Gpu gpu_;
    const Tenants &tenants_;
    const Options options_;
    Warnings &warnings_;
    std::map<std::uint32_t, Task> tasks_; ///< by pid
    /// The start of the process that each pid in the goals means, by pid.
    std::map<std::uint32_t, std::uint64_t> meant_;
    /// Pids that had the GPU and are not in the driver's list of owners.
    std::set<std::uint32_t> passed_over_;
    std::vector<std::int64_t> tsgs_; ///< by tenant
    Trees trees_;                    ///< of each `all-of:` in the goals
    bool is_search_needed_ = true, has_mps_ = false;
    qos::Ns found_at_ = 0; ///< when the last search for processes began
    std::future<Found> finding_;
    std::future<Held> holding_;
};

} // namespace nvqos
