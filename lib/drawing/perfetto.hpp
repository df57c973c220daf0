// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events.hpp"

namespace drawing {

/// A fact about a GPU's clock over a time, or about a moment if both ends are equal.
struct ClockNote {
    std::uint32_t gpu;
    std::uint64_t begin_ns, end_ns;
    std::string text;
    std::vector<std::pair<std::string, std::int64_t>> facts; ///< for queries, by their names
};

/// Writes a trace for Perfetto.
class TraceSink : public TextSink {
  public:
    /// Adds a slice to the track `clock` of the GPU. The notes of a GPU come in the order of time.
    virtual void note(const ClockNote &note) = 0;
};

/// The clock of a trace's times.
enum class TraceClock {
    gpu,     ///< each GPU's own, which Perfetto moves to CLOCK_BOOTTIME by the reading before it
    boottime ///< CLOCK_BOOTTIME
};

/// Returns what follows the name of a process, as ` in 3f2a1b2c4d5e` for its container; empty: nothing.
using HomeOf = std::function<std::string(const RecordedProcess &)>;

/// Makes a sink that writes a trace for Perfetto, as a sequence of protobuf packets.
/// @param home empty: the names of processes are their commands alone
[[nodiscard]] std::unique_ptr<TraceSink> make_perfetto(TraceClock clock = TraceClock::gpu,
                                                       HomeOf home = {});

} // namespace drawing
