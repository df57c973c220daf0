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

/// Records one GPU. It never waits for its next event: the caller decides when to read. Events that
/// were emitted are final.
class Recorder {
  public:
    /// Samples a second, unless --rate asks for another number. They take 0.6 % of a core (34
    /// engines of an H100), so `record` divides them among several GPUs.
    static constexpr unsigned default_rate = 10;

    /// Makes a recorder. Fails if nothing can be recorded.
    /// @param period_ns time between samples; 0: no samples are taken
    /// @param notes gets the reasons why some events are not recorded
    [[nodiscard]] static Outcome<std::unique_ptr<Recorder>> start(const nvdebug::Gpu &gpu,
                                                                  std::uint64_t period_ns,
                                                                  Sink &sink,
                                                                  std::vector<std::string> &notes);

    /// Emits the clock and the processes. The caller has sent the sink its head before.
    void begin();

    bool has_switches() const { return reader_ != nullptr; }
    bool has_samples() const { return sampled_; }

    /// Takes a sample. Fails if the GPU is gone. Another failure only counts as a missed sample.
    [[nodiscard]] nvdebug::Result<void> sample();
    /// Counts samples that there was no time for.
    void miss(std::uint64_t samples) { missed_ += samples; }
    [[nodiscard]] nvdebug::Result<void> read_switches();
    /// Reads all clocks and emits them, unless the GPU's clock cannot be read. GPUs' clocks drift
    /// against each other, so that turns of several GPUs need a reading about each second.
    void note_clocks();
    /// Reads the owners of TSGs again if there is a new process.
    void look_for_processes();
    /// Records that a control changed the GPU at that moment.
    void mark(std::uint64_t monotonic_ns, std::uint32_t pid, const std::string &text);
    /// Reads switches and emits turns, also those that still last. Then emits, for each engine, the
    /// interval that ends now. The first interval began with begin().
    [[nodiscard]] nvdebug::Result<void> split();
    /// Emits pending turns. The caller emits the summary.
    void end();

    const nvdebug::Gpu &gpu() const { return gpu_; }

  private:
    struct SampledEngine {
        Lane lane;
        nvdebug::SampleTurns turns;
        std::uint64_t samples = 0;
        std::uint64_t emitted_ns = 0; ///< known time of earlier intervals
    };

    Recorder(nvdebug::Gpu gpu, std::uint64_t period_ns, Sink &sink)
        : gpu_(std::move(gpu)), period_(period_ns), sink_(sink), states_(gpu_) {}

    [[nodiscard]] std::optional<std::uint64_t> gpu_now();
    [[nodiscard]] std::optional<std::uint64_t> now();
    void add_sample(std::uint64_t ns, const nvdebug::EngineState &state);
    nvdebug::Holder holder_of(const nvdebug::EngineState &state) const;
    void emit(const Lane &lane, std::vector<nvdebug::Turn> &turns);
    void emit_switched();
    /// Emits the turns that samples show. With @p last it also emits the last turns, and those of
    /// GR0 if no switch came.
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
    std::optional<std::uint64_t> begin_ns_; ///< begin of this interval
    std::optional<ClockReading> clock_;

    // Switches. The driver records only those of GR0.
    std::unique_ptr<nvdebug::SwitchReader> reader_;
    Lane switched_{};
    nvdebug::SwitchTurns turns_{std::nullopt};
    std::vector<nvdebug::ContextSwitch> batch_;
    std::vector<nvdebug::Turn> found_;
    std::uint64_t dropped_ = 0, last_switch_ = 0;
    bool any_switch_ = false;
    /// Turns on GR0 as samples show them. They are kept until the first switch.
    std::vector<nvdebug::Turn> unswitched_;
    /// Samples of GR0 (time, TSG) that have not been compared with switches yet. tsg_of_context_ is
    /// the result of the comparison.
    std::deque<std::pair<std::uint64_t, std::uint32_t>> seen_;
    /// The TSG of each context. The key is a pid and the driver's number of the context.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tsg_of_context_;

    // Samples of engines, and what they show.
    std::map<std::string, std::unique_ptr<SampledEngine>> engines_; ///< by name
    std::vector<std::string> order_;
    std::uint64_t missed_ = 0;
    std::optional<std::uint32_t> runlist_; ///< runlist of GR0

    // Processes and their TSGs.
    std::map<std::uint32_t, RecordedProcess> processes_; ///< the processes that have these pids now
    /// Earlier processes of the same pids. They are kept because emitted turns refer to them.
    std::vector<std::map<std::uint32_t, RecordedProcess>::node_type> ended_;
    std::set<std::uint32_t> looked_at_; ///< pids that were examined during this read
    std::set<std::uint32_t> new_;       ///< new processes, whose TSGs have not been searched yet
    std::map<std::pair<std::uint32_t, nvdebug::Occupant::Kind>,
             std::map<std::uint32_t, std::uint32_t>>
        owner_; ///< pid by runlist, and id of TSG or channel
};

} // namespace nvdebugctl
