// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Watches one GPU: how long tasks have it, which engines work, what lists hold.
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

#include "nvdebug/identity.hpp"
#include "nvdebug/nvdebug.hpp"
#include "task_times.hpp"

namespace nvdebug::exporter {

/// What is shown of a task. Texts may be of any bytes.
struct TaskFacts {
    std::optional<std::uint32_t> pid;
    std::string command; ///< empty: none, or not known
    Identity id;
    Times times;
    std::optional<std::uint64_t> channels, timeslice_ns; ///< the latter on GR0's runlist
    std::optional<std::uint32_t> tpcs;                   ///< nvtaskset keeps it to so many
    std::optional<bool>
        kept; ///< false: a partition was asked for, and not all launches were kept to it
};

struct EngineFacts {
    std::string name;
    std::uint64_t busy_ns, known_ns; ///< by samples; known_ns: that between them
};

struct ListFacts {
    std::uint32_t id;
    std::uint64_t tsgs, channels;
};

/// Processes of which not everything is known, by why: as nvdebug::Owners has it.
struct MissingProcesses {
    std::uint64_t hidden = 0, denied = 0, cut = 0;
    std::vector<std::uint32_t> cut_pids;
    std::optional<std::string> lacked; ///< of the exporter itself
};

struct Facts {
    std::uint32_t gpu = 0;
    std::string chip, pci_address, source, uuid, product;
    std::optional<std::string> trouble; ///< why nothing else is known now
    std::vector<TaskFacts> tasks;
    Times others; ///< of tasks for which there was no room
    std::vector<EngineFacts> engines;
    std::vector<ListFacts> lists;
    std::optional<std::uint64_t> faulted_channels;
    bool has_switches = false; ///< else times of tasks are those of samples
    Lengths switches;
    std::uint64_t switches_lost = 0, errors = 0;
    /// Pids of tasks are of another PID namespace than the exporter's: they are numbers alone.
    bool foreign_pids = false;
    std::optional<MissingProcesses> missing; ///< where owners are known at all
};

/// Returns after how long a GPU is tried again that could not be opened: 50 steps, 10 s at most.
inline std::chrono::milliseconds between_tries(std::chrono::milliseconds period) {
    return std::min<std::chrono::milliseconds>(std::chrono::seconds(10), 50 * period);
}

/// Any thread may use it. How long it takes to read lists and processes is up to other programs, so
/// look() holds no lock meanwhile that step() or snapshot() waits for.
class Meter {
  public:
    using Clock = std::chrono::steady_clock;
    struct Limits {
        std::size_t tasks = 256;                       ///< that have their own times
        std::chrono::seconds keep_ended{300};          ///< how long a task is shown that has ended
        std::chrono::milliseconds shortest_look{500};  ///< between looks at lists, if asked
        std::chrono::seconds own_look{5};              ///< and where step() needs one
        std::chrono::milliseconds forgets_every{1000}; ///< how often step() looks who has ended
    };

    /// @param period between steps.
    Meter(Gpu gpu, std::chrono::milliseconds period, const Limits &limits);

    /// Reads switches and engines; to be called each period. What fails is counted.
    void step();
    /// Looks at lists and processes, but not more often than Limits::shortest_look. Returns at once
    /// while another thread looks.
    void look();
    /// Returns whether a task or TSG was seen that was not there at the last look.
    bool needs_look() const;
    /// Returns what is known, without another look.
    Facts snapshot();
    /// Returns what is known after a look().
    Facts facts() {
        look();
        return snapshot();
    }

  private:
    using Tsg = std::pair<std::uint32_t, std::uint32_t>; ///< runlist, id
    /// A task that has times of its own.
    struct KnownTask {
        Process process;                   ///< its start is known before its name
        bool named = false, tried = false; ///< tried: a look was asked for its name
        bool seen = true;                  ///< on the engine since forget_ended() last checked it
        std::optional<Clock::time_point> ended = {};
    };
    /// What a look finds.
    struct LookResult {
        std::optional<Owners> owners;
        std::optional<std::uint32_t> graphics_list;
        std::vector<std::pair<std::uint32_t, Runlist>> lists;
        std::map<std::uint32_t, Process> named;      ///< by pid of switches
        std::map<std::uint32_t, std::uint32_t> tpcs; ///< that nvtaskset keeps a process to, by pid
        std::map<std::uint32_t, bool> kept;          ///< TaskFacts::kept, by pid
        std::uint64_t errors = 0;
    };

    void start();
    void look_now(const Info &info);
    void read_switches();
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
    /// Returns whether pids of turns are those of this /proc.
    bool is_local() const { return !any_switch_ || !facts_.foreign_pids; }
    const Process *process_of(const Holder &who) const;
    TaskFacts facts_of(const Holder &who, const Times &times) const;
    TaskFacts facts_of(const Process &process) const;
    void add_lists_facts(TaskFacts &facts, const Process &process) const;

    const Gpu gpu_;
    const std::chrono::milliseconds period_;
    const std::uint64_t period_ns_;
    const Limits limits_;

    std::mutex step_mutex_; ///< one step at a time; protects next_start_, batch_ and dropped_
    Clock::time_point next_start_ = {};
    std::vector<ContextSwitch> batch_;
    std::uint64_t dropped_ = 0;

    std::mutex look_mutex_; ///< one look at a time

    mutable std::mutex mutex_; ///< protects the members below; held no longer than a copy takes
    bool started_ = false;
    std::shared_ptr<SwitchReader> reader_;
    Facts facts_;
    Clock::time_point looked_ = {}; ///< when the last look began
    Clock::time_point forgot_ = {};
    SwitchTurns switched_{std::nullopt};
    bool any_switch_ = false;
    std::map<std::string, SampleTurns> sampled_; ///< by engine; busy or not
    std::map<std::string, std::uint64_t> busy_ns_;
    std::optional<SampleTurns> on_gr0_; ///< turns by samples, until the first switch
    TaskTimes times_;
    std::map<Holder, KnownTask> known_; ///< of tasks that times_ has
    std::vector<Turn> waiting_;         ///< for a look that may find the owners of their TSGs
    Clock::time_point waiting_since_ = {};

    std::map<Tsg, Process> owner_;
    std::map<std::uint32_t, Process> owners_;                        ///< by pid, as /proc has it
    std::map<std::uint32_t, std::uint64_t> channels_, timeslice_ns_; ///< by pid of owners_
    std::map<std::uint32_t, std::uint32_t> tpcs_;                    ///< by local pid
    std::map<std::uint32_t, bool> kept_;                             ///< by local pid
};

} // namespace nvdebug::exporter
