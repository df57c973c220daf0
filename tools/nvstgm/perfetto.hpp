// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A schedule as a trace for Perfetto.
#pragma once

#include <string>

#include "command.hpp"
#include "lib/stgm/trace.hpp"

namespace nvstgm {

enum class Source {
    simulation, ///< times are in the set's unit, and a tick is shown as a microsecond
    run,        ///< times are in ns; `run` and `stop` are a CPU segment's begin and end
};

/// A time in which a process had an engine of a GPU, by CLOCK_MONOTONIC.
struct GpuTurn {
    std::uint32_t gpu;
    std::string engine;
    stgm::Time begin, end;
    std::uint32_t pid; ///< 0: the driver hides it
    std::string process;
};

/// Returns a trace with tracks of the cores, the copy engine and each set of SMs. A run has a track
/// for the CPU segments of each task instead of the cores, because these segments include times at
/// which other tasks have the core.
std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace, Source source);
/// Returns the trace of a run with additional tracks of the GPU's turns.
/// @param begin of the run by CLOCK_MONOTONIC; earlier turns are left out
std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace,
                     const std::vector<GpuTurn> &gpu, stgm::Time begin);

/// Returns true if the file's name ends as those for Perfetto do.
bool is_perfetto(const std::string &path);

/// Fails if --output has a suffix that says neither Perfetto nor text.
Answer<void> knows_form_of_trace(const Arguments &arguments);

} // namespace nvstgm
