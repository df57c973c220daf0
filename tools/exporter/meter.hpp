// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Watches one GPU: how long tasks have it, which engines work, and which tasks are on its
/// lists.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/pod_names.hpp"
#include "nvdebug/identity.hpp"
#include "nvdebug/jobs.hpp"
#include "nvdebug/nvdebug.hpp"
#include "task_times.hpp"

namespace nvdebug::exporter {

/// The facts that are shown about a task. Texts may consist of any bytes.
struct TaskFacts {
    std::optional<std::uint32_t> pid;
    std::string command; ///< empty: no command, or not known
    Identity id;
    Times times;
    std::optional<std::uint64_t> channels, timeslice_ns; ///< on GR0's runlist
    std::optional<std::uint32_t> tpcs; ///< number of TPCs to which nvtaskset keeps it
    std::optional<bool>
        kept; ///< false: the task should be kept to a partition, but not all of its launches were
    std::optional<double> together =
        {}; ///< JobTimes::together(), if it is of a job on several GPUs
    std::optional<base::PodName> pod_name = {}; ///< of Identity::pod and container
};

struct EngineFacts {
    std::string name;
    std::uint64_t busy_ns, known_ns; ///< from samples; known_ns: time between samples
};

struct ListFacts {
    std::uint32_t id;
    std::uint64_t tsgs, channels;
};

/// The numbers of processes about which something is not known, by reason, as in nvdebug::Owners.
struct MissingProcesses {
    std::uint64_t hidden = 0, denied = 0, cut = 0;
    std::vector<std::uint32_t> cut_pids;
    std::optional<std::string> lacked; ///< a thing that the exporter itself lacked
};

struct Facts {
    std::uint32_t gpu = 0;
    std::string chip, pci_address, source, uuid, product;
    std::optional<std::string> trouble; ///< why nothing else is known at present
    std::vector<TaskFacts> tasks;
    Times others; ///< sum of the times of tasks beyond Limits::tasks
    std::vector<EngineFacts> engines;
    std::vector<ListFacts> lists;
    std::optional<std::uint64_t> faulted_channels;
    bool has_switches = false; ///< false: the times of tasks come from samples
    Lengths switches;
    std::uint64_t switches_lost = 0, errors = 0;
    /// True if the pids of tasks belong to another PID namespace than the exporter's. Then they are
    /// only numbers.
    bool foreign_pids = false;
    std::optional<MissingProcesses> missing; ///< empty: the source shows no owners
};

/// Returns the time after which the exporter tries again to open a GPU: 50 steps, at most 10 s.
inline std::chrono::milliseconds between_tries(std::chrono::milliseconds period) {
    return std::min<std::chrono::milliseconds>(std::chrono::seconds(10), 50 * period);
}

/// Watches one GPU. Any thread may use it. Other programs decide how long it takes to read lists
/// and processes, so while look() reads, it holds no lock that step() or snapshot() needs.
class Meter {
  public:
    using Clock = std::chrono::steady_clock;
    struct Limits {
        std::size_t tasks = 256;              ///< number of tasks that have times of their own
        std::chrono::seconds keep_ended{300}; ///< time for which a task is shown after its end
        /// Shortest time between two calls of look() that read.
        std::chrono::milliseconds shortest_look{500};
        std::chrono::seconds own_look{5}; ///< the same for looks that step() needs
        /// Time between two searches of step() for ended tasks.
        std::chrono::milliseconds forgets_every{1000};
    };

    /// @param period time between steps
    Meter(Gpu gpu, std::chrono::milliseconds period, const Limits &limits);

    /// Returns the number of the GPU.
    std::uint32_t gpu() const { return gpu_.index(); }
    /// Reads switches and engines; called once each period. A failure is counted.
    void step();
    /// Reads lists and processes, unless the last look was less than Limits::shortest_look ago. If
    /// another thread is reading, it returns at once.
    void look();
    /// Returns whether a task or TSG was seen that did not exist at the last look.
    bool needs_look() const;
    /// Passes on the turns of GR0 since the last call, with their processes and the readings of
    /// clocks. There are turns only where the source records switches.
    void pass_turns(JobMeter &to);
    /// Returns the known facts without reading anything.
    Facts snapshot();
    /// Returns the known facts after a look().
    Facts facts() {
        look();
        return snapshot();
    }

  private:
    using Tsg = std::pair<std::uint32_t, std::uint32_t>; ///< runlist and id
    /// A task that has times of its own.
    struct KnownTask {
        Process process;                   ///< its start is known earlier than its name
        bool named = false, tried = false; ///< tried: a look was already asked to find its name
        bool seen = true; ///< it was on the engine since forget_ended() last checked it
        std::optional<Clock::time_point> ended = {};
    };
    /// The results of one look.
    struct LookResult {
        std::optional<Owners> owners;
        std::optional<std::uint32_t> graphics_list;
        std::vector<std::pair<std::uint32_t, Runlist>> lists;
        std::map<std::uint32_t, Process> named;      ///< by the pids of switches
        std::map<std::uint32_t, std::uint32_t> tpcs; ///< TaskFacts::tpcs, by pid
        std::map<std::uint32_t, bool> kept;          ///< TaskFacts::kept, by pid
        std::uint64_t errors = 0;
    };

    void start();
    void look_now(const Info &info);
    void read_switches();
    void read_both_clocks(SwitchReader &reader);
    void keep_for_jobs(const std::vector<Turn> &turns);
    void sample();
    void sample_engine(const EngineState &state, std::uint64_t now);
    void add(std::vector<Turn> &turns);
    void add_now(const Turn &turn);
    void postpone(Turn turn);
    void settle_waiting();
    void note_process(std::uint32_t pid);
    void forget(const Holder &who);
    void forget_ended();
    LookResult look_at(const Info &info, const std::vector<std::uint32_t> &unnamed,
                       const std::shared_ptr<SwitchReader> &reader) const;
    void take(const LookResult &seen);
    void fail(const Error &error);
    /// Returns whether the pids of turns belong to this /proc.
    bool is_local() const { return !any_switch_ || !facts_.foreign_pids; }
    const Process *process_of(const Holder &who) const;
    TaskFacts facts_of(const Holder &who, const Times &times) const;
    TaskFacts facts_of(const Process &process) const;
    void add_lists_facts(TaskFacts &facts, const Process &process) const;

    const Gpu gpu_;
    const std::chrono::milliseconds period_;
    const std::uint64_t period_ns_;
    const Limits limits_;

    /// Allows one step at a time; protects next_start_, next_clock_, batch_ and dropped_.
    std::mutex step_mutex_;
    Clock::time_point next_start_ = {}, next_clock_ = {};
    std::vector<ContextSwitch> batch_;
    std::uint64_t dropped_ = 0;

    std::mutex look_mutex_; ///< allows one look at a time

    /// Protects the members below; it is held only for as long as a copy takes.
    mutable std::mutex mutex_;
    bool started_ = false;
    std::shared_ptr<SwitchReader> reader_;
    Facts facts_;
    Clock::time_point looked_ = {}; ///< begin of the last look
    Clock::time_point forgot_ = {};
    SwitchTurns switched_{std::nullopt};
    bool any_switch_ = false;
    std::map<std::string, SampleTurns> sampled_; ///< whether each engine was busy, by its name
    std::map<std::string, std::uint64_t> busy_ns_;
    std::optional<SampleTurns> on_gr0_; ///< turns as samples show them, until the first switch
    TaskTimes times_;
    std::vector<Turn> for_jobs_; ///< turns for pass_turns(), at most most_for_jobs
    std::vector<ClockReadings> clocks_for_jobs_;
    std::map<Holder, KnownTask> known_; ///< tasks that have times in times_
    /// Turns that wait for a look, which may find the owners of their TSGs.
    std::vector<Turn> waiting_;
    Clock::time_point waiting_since_ = {};

    std::map<Tsg, Process> owner_;
    std::map<std::uint32_t, Process> owners_;                        ///< by pid of this /proc
    std::map<std::uint32_t, std::uint64_t> channels_, timeslice_ns_; ///< by pid of owners_
    std::map<std::uint32_t, std::uint32_t> tpcs_;                    ///< by local pid
    std::map<std::uint32_t, bool> kept_;                             ///< by local pid
};

using Meters = std::vector<std::shared_ptr<Meter>>;

/// Adds a meter to @p meters, which are by GPU, for each GPU of @p usable that has none.
void add_meters(const UsableGpus &usable, std::chrono::milliseconds period,
                const Meter::Limits &limits, Meters &meters);

} // namespace nvdebug::exporter
