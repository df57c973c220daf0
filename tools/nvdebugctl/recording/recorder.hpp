// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Records one GPU: reads switches and samples on request, and passes events to a sink.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nvdebug/nvdebug.hpp"
#include "recorded_events.hpp"
#include "state/state.hpp"

namespace nvdebugctl {

/// Never blocks: the caller decides when to read. Events that were emitted are final.
class Recorder {
  public:
    /// Samples a second, unless others are asked for: they take 0.6 % of a core (34 engines of an
    /// H100).
    static constexpr unsigned default_rate = 10;

    /// @param period_ns between samples; 0: none are taken.
    /// @param notes gets why there is less than there could be. Fails if there is nothing.
    [[nodiscard]] static Outcome<std::unique_ptr<Recorder>> start(const nvdebug::Gpu &gpu,
                                                                  std::uint64_t period_ns,
                                                                  Sink &sink,
                                                                  std::vector<std::string> &notes);

    /// Emits clock and processes. Called after the sink's head.
    void begin();

    bool has_switches() const { return reader_ != nullptr; }
    bool has_samples() const { return sampled_; }

    /// One sample; that the GPU is gone is an error, that a sample fails is counted.
    [[nodiscard]] nvdebug::Result<void> sample();
    /// Samples that there was no time for.
    void miss(std::uint64_t samples) { missed_ += samples; }
    [[nodiscard]] nvdebug::Result<void> read_switches();
    /// Reads all clocks; empty: the GPU's cannot be read.
    [[nodiscard]] std::optional<ClockReading> read_clocks();
    /// Reads owners of TSGs again if a process is new.
    void look_for_processes();
    /// A control of the GPU at that moment.
    void mark(std::uint64_t monotonic_ns, std::uint32_t pid, const std::string &text);
    /// Reads switches, and emits turns that go on up to now and then, of each engine, the
    /// interval that ends now. The first interval began with begin().
    [[nodiscard]] nvdebug::Result<void> split();
    /// Emits pending turns. The summary is the caller's.
    void end();

    const nvdebug::Gpu &gpu() const { return gpu_; }

  private:
    struct SampledEngine {
        Lane lane;
        nvdebug::SampleTurns turns;
        std::uint64_t samples = 0;
        std::uint64_t emitted_ns = 0; ///< of what is known, in intervals before
    };

    Recorder(nvdebug::Gpu gpu, std::uint64_t period_ns, Sink &sink)
        : gpu_(std::move(gpu)), period_(period_ns), sink_(sink), states_(gpu_) {}

    [[nodiscard]] std::optional<std::uint64_t> gpu_now();
    [[nodiscard]] std::optional<std::uint64_t> now();
    void add_sample(std::uint64_t ns, const nvdebug::EngineState &state);
    nvdebug::Holder holder_of(const nvdebug::EngineState &state) const;
    void emit(const Lane &lane, std::vector<nvdebug::Turn> &turns);
    void emit_switched();
    /// @p last: GR0's, too, where no switch came.
    void emit_sampled(bool last);
    void end_interval(std::optional<std::uint64_t> ns);
    void settle_tsg(nvdebug::Turn &turn);
    const RecordedProcess *process(std::uint32_t pid);
    void look_for_successor(std::uint32_t pid);
    void read_owners();
    void emit_new_names();
    bool is_switched(const std::string &engine) const;

    const nvdebug::Gpu gpu_;
    const std::uint64_t period_;
    Sink &sink_;
    EngineStates states_;
    bool sampled_ = false;
    std::optional<std::uint64_t> begin_ns_; ///< of this interval
    std::optional<ClockReading> clock_;

    // Switches, of GR0 alone.
    std::unique_ptr<nvdebug::SwitchReader> reader_;
    Lane switched_{};
    nvdebug::SwitchTurns turns_{std::nullopt};
    std::vector<nvdebug::ContextSwitch> batch_;
    std::vector<nvdebug::Turn> found_;
    std::uint64_t dropped_ = 0, last_switch_ = 0;
    bool any_switch_ = false;
    /// Turns on GR0 by samples, until the first switch.
    std::vector<nvdebug::Turn> unswitched_;
    /// Samples of GR0 (time, TSG) not yet compared with switches; and the result of that.
    std::deque<std::pair<std::uint64_t, std::uint32_t>> seen_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tsg_of_context_; ///< by pid

    // Samples.
    std::map<std::string, std::unique_ptr<SampledEngine>> engines_; ///< by name
    std::vector<std::string> order_;
    std::uint64_t missed_ = 0;
    std::optional<std::uint32_t> runlist_; ///< of GR0

    // Processes and their TSGs.
    std::map<std::uint32_t, RecordedProcess> processes_; ///< that have their numbers now
    /// Processes that had these pids before: emitted turns refer to them.
    std::vector<std::map<std::uint32_t, RecordedProcess>::node_type> ended_;
    std::set<std::uint32_t> looked_at_; ///< pids, in this read
    std::set<std::uint32_t> new_;       ///< processes with TSGs that have not been searched yet
    std::map<std::pair<std::uint32_t, nvdebug::Occupant::Kind>,
             std::map<std::uint32_t, std::uint32_t>>
        owner_; ///< pid by runlist, and id of TSG or channel
};

} // namespace nvdebugctl
