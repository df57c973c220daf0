// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which process had the GPU when, while a set runs: by `nvdebugctl record`, from the
/// driver's record.
#pragma once

#include <sys/types.h>

#include "command.hpp"
#include "perfetto.hpp"

namespace nvstgm {

/// A recording that is made beside the run. It ends with this at the latest.
class GpuRecording {
  public:
    GpuRecording() = default;
    GpuRecording(const GpuRecording &) = delete;
    GpuRecording &operator=(const GpuRecording &) = delete;
    ~GpuRecording();

    /// @param nvdebugctl the program. Whether it records is found out by end().
    void begin(const std::string &nvdebugctl);
    /// The turns of all engines, by CLOCK_MONOTONIC. The error is a sentence: what is missing, and
    /// why.
    Outcome<std::vector<GpuTurn>> end();

  private:
    std::string folder_, why_;
    pid_t pid_ = 0;
};

/// Turns of a recording in NDJSON, as nvdebugctl(1) writes it.
Outcome<std::vector<GpuTurn>> turns_of(const std::string &recording);

} // namespace nvstgm
