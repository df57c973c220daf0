// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps the goals on one GPU: reads turns, decides, and sets timeslices and pauses.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "goals.hpp"
#include "lib/qos/governor.hpp"
#include "nvdebug/nvdebug.hpp"

namespace nvqos {

/// A tenant as it is shown. The last of a report is that of tasks without a tenant.
struct TenantReport {
    const Tenant *tenant; ///< nullptr: the others
    qos::Goal goal;
    qos::Record record;
    qos::Ns credit;
    qos::Lever lever;
    std::size_t tasks;        ///< processes with a context
    std::int64_t tsgs;        ///< that compete for the GPU
    std::uint64_t violations; ///< epochs, since it began
};

struct Report {
    std::uint32_t gpu;
    qos::EpochRecord epoch;
    std::vector<TenantReport> tenants;
    std::uint64_t lost; ///< switches that were not recorded, since it began
};

/// For people, each sentence once: what cannot be done.
using Say = std::function<void(const std::string &)>;

class Warden {
  public:
    struct Options {
        bool dry_run = false;
        std::chrono::milliseconds patience{1000}; ///< nvdebug::HoldOptions
    };

    /// Fails if the GPU's switches cannot be followed, or goals cannot be kept. Nothing is changed
    /// yet.
    static Outcome<std::unique_ptr<Warden>> start(nvdebug::Gpu gpu, const Asked &asked,
                                                  const Options &options, Say say);

    /// Looks, decides, and changes what is to be changed. Returns the epoch that ended, if one did.
    Outcome<std::optional<Report>> step();
    /// How long until the next step().
    qos::Ns wait();
    /// Takes other goals for the same tasks. Fails if they cannot be kept; the old ones are kept
    /// then.
    Outcome<void> set_goals(const Asked &asked);

    const nvdebug::Gpu &gpu() const { return gpu_; }
    /// Sentences about goals that cannot be kept; empty: they can.
    std::vector<std::string> refusals() const;
    /// Epochs of tenants in which a goal was not kept.
    std::uint64_t violations() const;
    /// As of an epoch without anything: what a dry run shows.
    Report plan() const;
    bool has_tasks_of(std::size_t tenant) const;

  private:
    struct Task {
        nvdebug::Process process;
        std::size_t tenant = 0;
        /// What it had on the GPU when it was held: it is held anew with more.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> channels = {};
        std::unique_ptr<nvdebug::TaskHold> hold = nullptr;
        std::optional<nvdebug::TaskState> asked = {};
        qos::Ns asked_at = 0;
        std::optional<qos::Ns> paused_since = {}; ///< when the pause had come
    };

    Warden(nvdebug::Gpu gpu, const Asked &asked, const Options &options, Say say);
    Outcome<qos::Ns> read();
    void take(std::vector<nvdebug::Turn> &turns, bool ends);
    std::size_t tenant_of(const nvdebug::Process &process) const;
    Task &task_of(std::uint32_t pid);
    Outcome<void> look_for_tasks();
    void hold(Task &task);
    void count_turns();
    void apply(qos::Ns now);
    nvdebug::TaskState wanted(const Task &task) const;
    void say_once(const std::string &sentence);
    Report report(qos::EpochRecord epoch) const;

    const nvdebug::Gpu gpu_;
    Asked asked_;
    const Options options_;
    const Say say_;
    std::set<std::string> said_;
    std::optional<std::uint32_t> runlist_; ///< of GR0
    bool sets_timeslices_ = false;
    std::shared_ptr<const void> claim_; ///< on this GPU

    std::unique_ptr<nvdebug::SwitchReader> reader_;
    nvdebug::SwitchTurns turns_{std::nullopt};
    std::vector<nvdebug::ContextSwitch> batch_;
    std::vector<nvdebug::Turn> found_;
    std::uint64_t lost_ = 0, last_switch_ = 0;
    qos::Ns now_ = 0;

    std::optional<qos::Governor> governor_;
    std::vector<std::uint64_t> violations_; ///< by tenant
    std::map<std::uint32_t, Task> tasks_;   ///< by pid
    /// Pid and context, that were seen: when the last part of a turn ended.
    std::map<std::pair<std::uint32_t, std::uint32_t>, qos::Ns> contexts_;
    std::map<std::uint32_t, std::uint64_t>
        meant_; ///< by a pid that was named: when its process was started
    std::set<std::uint32_t>
        passed_over_; ///< pids that had the GPU, and that the last look did not find
    bool wants_look_ = true, unfinished_ = false;
    qos::Ns looked_at_ = 0;
};

} // namespace nvqos
