// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A schedule as a trace for Perfetto.
#pragma once

#include <string>

#include "command.hpp"
#include "lib/stgm/trace.hpp"

namespace nvstgm {

enum class Source {
    simulation, ///< in the set's unit; a tick is shown as a microsecond
    run,        ///< in ns, of a set in us; `run` and `stop` are a CPU segment's begin and end
};

/// A process had an engine of a GPU; by CLOCK_MONOTONIC.
struct GpuTurn {
    std::uint32_t gpu;
    std::string engine;
    stgm::Time begin, end;
    std::uint32_t pid; ///< 0: hidden
    std::string process;
};

/// Tracks of the cores, the copy engine and each set of SMs; of a run, of each task's CPU segments,
/// as these include the times at which others have the core.
std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace, Source source);
/// … of a run, and beside it what the GPU did. @param begin of the run, by CLOCK_MONOTONIC: what is
/// before is left out
std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace,
                     const std::vector<GpuTurn> &gpu, stgm::Time begin);

/// The file's name says that it is for Perfetto.
bool is_perfetto(const std::string &path);

/// Fails if --output has a suffix that says neither Perfetto nor text.
Answer<void> knows_form_of_trace(const Arguments &arguments);

} // namespace nvstgm
