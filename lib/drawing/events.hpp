// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Events of a recording of engines: what a writer of traces receives.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/turns.hpp"

namespace drawing {

using Json = nlohmann::ordered_json;

struct RecordedGpu {
    std::uint32_t index;
    std::optional<std::string> chip, pci_address;
};

struct RecordingHead {
    std::string time;        ///< UTC, ISO 8601
    std::string source;      ///< as `source.kind` of documents
    std::uint64_t period_ns; ///< between samples, as was asked for; 0: there are none
    std::vector<RecordedGpu> gpus;
};

/// The same moment by several clocks: what joins a recording to what others write down.
struct ClockReading {
    std::uint64_t gpu_ns, monotonic_ns, realtime_ns, boottime_ns;
    std::uint64_t within_ns; ///< how far from each other they may have been read
};

struct RecordedProcess {
    struct Tsg {
        std::uint32_t runlist, id;
        std::optional<std::uint64_t> timeslice_ns;
        bool operator==(const Tsg &) const = default;
    };
    std::uint32_t pid;
    std::optional<std::string> command, cgroup, container;
    std::vector<Tsg> tsgs; ///< where the lists can be read
    std::uint64_t channels = 0;
    std::optional<std::uint64_t> started = {}; ///< nvdebug::Process::started
    bool operator==(const RecordedProcess &) const = default;
};

/// An engine of a GPU. Its turns are emitted in the order of time.
struct Lane {
    enum class Means { switches, samples };
    std::uint32_t gpu;
    std::string engine;
    Means means;
};

/// What is known of a lane when its recording ends.
struct LaneEnd {
    std::optional<std::uint64_t> begin_ns, end_ns; ///< empty: the GPU's clock cannot be read
    std::uint64_t samples = 0;
    std::uint64_t missed = 0;   ///< samples that were not taken in time, or failed
    std::uint64_t known_ns = 0; ///< between samples that follow each other
};

struct Mark {
    std::uint32_t gpu;
    std::uint64_t ns; ///< by the GPU's clock
    std::uint32_t pid;
    std::string text;
};

/// Receives the events of a recording, in this order except for events in between. Lanes and
/// processes live as long as the recording.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void head(const RecordingHead &) {}
    virtual void clock(std::uint32_t /*gpu*/, const ClockReading &) {}
    /// Before its first turn, and again when more is known of it.
    virtual void process(std::uint32_t /*gpu*/, const RecordedProcess &) {}
    /// @param process nullptr: not known
    virtual void turn(const Lane &, const nvdebug::Turn &, const RecordedProcess * /*process*/) {}
    /// After @p ns so many switches were not kept.
    virtual void lost(const Lane &, std::uint64_t /*ns*/, std::uint64_t /*count*/) {}
    virtual void mark(const Mark &) {}
    virtual void end(const Lane &, const LaneEnd &) {}
    /// The last event. @param summary as Totals::summary()
    virtual void end(const Json & /*summary*/) {}
};

/// One that makes text, to be taken and written from time to time. What was taken so far can be
/// read without the rest.
class TextSink : public Sink {
  public:
    [[nodiscard]] std::string &text() { return text_; }

  protected:
    std::string text_;
};

/// `load[4711]`, `pid 4711`, `TSG 0:5`, `hidden`
[[nodiscard]] std::string name_of(const nvdebug::Holder &who, const RecordedProcess *process);

} // namespace drawing
