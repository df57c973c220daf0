// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The events of a recording of engines, which writers of traces receive.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/turns.hpp"

namespace drawing {

using Json = nlohmann::ordered_json;

struct RecordedGpu {
    std::uint32_t index;
    std::optional<std::string> chip, pci_address;
    std::optional<std::string> product = {}; ///< `NVIDIA H200`
};

struct RecordingHead {
    std::string time;        ///< UTC, ISO 8601
    std::string source;      ///< as `source.kind` of documents
    std::uint64_t period_ns; ///< the requested time between samples; 0: there are no samples
    std::vector<RecordedGpu> gpus;
};

/// One moment by several clocks, by which a recording can be joined with other logs.
struct ClockReading {
    std::uint64_t gpu_ns, monotonic_ns, realtime_ns, boottime_ns;
    std::uint64_t within_ns; ///< the clocks were read within this time
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
    std::optional<std::uint64_t> started = {};  ///< nvdebug::Process::started
    std::optional<std::uint32_t> launcher = {}; ///< nvdebug::Process::launcher
    bool operator==(const RecordedProcess &) const = default;
};

/// An engine of a GPU. Its turns come in the order of time.
struct Lane {
    enum class Means { switches, samples };
    std::uint32_t gpu;
    std::string engine;
    Means means;
};

/// Facts about a lane at the end of its recording.
struct LaneEnd {
    std::optional<std::uint64_t> begin_ns, end_ns; ///< empty: the GPU's clock cannot be read
    std::uint64_t samples = 0;
    std::uint64_t missed = 0;   ///< samples that were late or failed
    std::uint64_t known_ns = 0; ///< time between samples that follow each other
};

/// A call by which a program launched a kernel or a CUDA graph. The texts live as long as the call of
/// Sink::launch().
struct Launch {
    std::uint32_t pid, thread;
    std::uint64_t begin_ns, end_ns;                          ///< of the call, by CLOCK_BOOTTIME
    std::string_view process;                                ///< name of the program's command
    std::string_view name;                                   ///< the kernel's or graph's
    std::uint64_t context, stream;                           ///< CUDA's handles in the program
    std::optional<std::array<std::uint32_t, 3>> grid, block; ///< empty: a graph
};

struct Mark {
    std::uint32_t gpu;
    std::uint64_t ns; ///< by the GPU's clock
    std::uint32_t pid;
    std::string text;
};

/// Receives the events of a recording, in the order of these functions; turns, losses and marks are
/// mixed. Lanes and processes live as long as the recording.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void head(const RecordingHead &) {}
    virtual void clock(std::uint32_t /*gpu*/, const ClockReading &) {}
    /// Called before the first turn of a process, and again when more is known about it.
    virtual void process(std::uint32_t /*gpu*/, const RecordedProcess &) {}
    /// @param process nullptr: unknown
    virtual void turn(const Lane &, const nvdebug::Turn &, const RecordedProcess * /*process*/) {}
    /// Called when @p count switches after @p ns were lost.
    virtual void lost(const Lane &, std::uint64_t /*ns*/, std::uint64_t /*count*/) {}
    virtual void mark(const Mark &) {}
    virtual void end(const Lane &, const LaneEnd &) {}
    /// Called between head() and the last event, in the order of time for each thread.
    virtual void launch(const Launch &) {}
    /// Called for the last event. @param summary from Totals::summary()
    virtual void end(const Json & /*summary*/) {}
};

/// A Sink that makes text, which the caller takes and writes from time to time. A file of the text
/// so far is readable without the rest.
class TextSink : public Sink {
  public:
    [[nodiscard]] std::string &text() { return text_; }

  protected:
    std::string text_;
};

/// Returns `load[4711]`, `pid 4711`, `TSG 0:5` or `hidden`.
[[nodiscard]] std::string name_of(const nvdebug::Holder &who, const RecordedProcess *process);

} // namespace drawing
