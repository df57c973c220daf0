// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which process had the GPU at which time of a run, recorded by `nvdebugctl record` from the
/// driver's record.
#pragma once

#include <sys/types.h>

#include "command.hpp"
#include "perfetto.hpp"

namespace nvstgm {

/// A recording beside the run. The destructor ends it, if end() did not.
class GpuRecording {
  public:
    GpuRecording() = default;
    GpuRecording(const GpuRecording &) = delete;
    GpuRecording &operator=(const GpuRecording &) = delete;
    ~GpuRecording();

    /// Starts the program @p nvdebugctl. If it cannot record, end() fails.
    /// @param gpu its name for nvdebugctl; empty: the first GPU
    void begin(const std::string &nvdebugctl, const std::string &gpu);
    /// Ends the recording, and returns the turns of all engines, or a sentence on why there are
    /// none.
    Outcome<std::vector<GpuTurn>> end();

  private:
    std::string folder_, why_;
    pid_t pid_ = 0;
};

/// Returns the turns of a recording in NDJSON, as nvdebugctl(1) writes it.
Outcome<std::vector<GpuTurn>> turns_of(const std::string &recording);

} // namespace nvstgm
