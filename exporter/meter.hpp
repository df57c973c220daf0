// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Watches one GPU: how long tasks have it, which engines work, what lists hold. */
#ifndef NVDEBUG_EXPORTER_METER_HPP
#define NVDEBUG_EXPORTER_METER_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/nvdebug.hpp"
#include "task_times.hpp"

namespace nvdebug::exporter {

/** What is shown of a task. Texts may be of any bytes. */
struct TaskFacts {
    std::optional<std::uint32_t> pid;
    std::string command, container, pod; ///< empty: none, or not known
    Times times;
    std::optional<std::uint64_t> channels, timeslice_ns; ///< the latter on GR0's runlist
    std::optional<std::uint32_t> tpcs;                   ///< nvtaskset keeps it to so many
};

struct EngineFacts {
    std::string name;
    std::uint64_t busy_ns, known_ns; ///< by samples; known_ns: that between them
};

struct ListFacts {
    std::uint32_t id;
    std::uint64_t tsgs, channels;
};

struct Facts {
    std::uint32_t gpu = 0;
    std::string chip, pci_address, source;
    std::optional<std::string> trouble; ///< why nothing else is known now
    std::vector<TaskFacts> tasks;
    Times others; ///< of tasks for which there was no room
    std::vector<EngineFacts> engines;
    std::vector<ListFacts> lists;
    std::optional<std::uint64_t> faulted_channels;
    bool has_switches = false; ///< else times of tasks are those of samples
    Lengths switches;
    std::uint64_t switches_lost = 0, errors = 0;
};

/** Any thread may use it. */
class Meter {
  public:
    using Clock = std::chrono::steady_clock;
    struct Limits {
        std::size_t tasks = 256;                      ///< that have their own times
        std::chrono::seconds keep_ended{300};         ///< how long a task is shown that has ended
        std::chrono::milliseconds shortest_look{500}; ///< between looks at lists, if asked
        std::chrono::seconds own_look{5};             ///< and where a TSG is nobody's known
    };

    /** @param period between steps. */
    Meter(Gpu gpu, std::chrono::milliseconds period, const Limits &limits);

    /** Reads switches and engines; to be called each period. What fails is counted. */
    void step();
    /** Looks at lists and processes, too, but not more often than Limits::shortest_look. */
    Facts facts();

  private:
    struct Known {
        Process process;
        std::optional<Clock::time_point> ended;
    };

    void start();
    void read_switches();
    void sample();
    void add(std::vector<Turn> &turns);
    void look(std::chrono::milliseconds shortest);
    void look_at_lists(const Info &info);
    void know(std::uint32_t pid);
    void forget_ended();
    /** A process where that is known. */
    Holder holder_of(const EngineState &state);
    TaskFacts facts_of(const Holder &who, const Times &times) const;

    std::mutex mutex_;
    const Gpu gpu_;
    const std::uint64_t period_ns_;
    const Limits limits_;
    Clock::time_point next_start_ = {};
    bool started_ = false;
    Facts facts_;
    Clock::time_point looked_ = {};

    std::unique_ptr<SwitchReader> reader_;
    SwitchTurns switched_{std::nullopt};
    bool any_switch_ = false;
    std::vector<ContextSwitch> batch_;
    std::uint64_t dropped_ = 0;
    std::map<std::string, SampleTurns> sampled_; ///< by engine; busy or not
    std::map<std::string, std::uint64_t> busy_ns_;
    std::optional<SampleTurns> on_gr0_; ///< who, until there is a switch
    TaskTimes times_;

    std::map<std::uint32_t, Known> processes_;                               ///< by pid
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> owner_; ///< of (runlist, TSG)
    std::map<std::uint32_t, std::uint64_t> channels_, timeslice_ns_;         ///< by pid
};

/** A pod's uid, as kubelet names cgroups by it; empty: it is in none. */
std::string pod_of(const std::string &cgroup);

} // namespace nvdebug::exporter

#endif
