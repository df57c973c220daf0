// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Events of a recording, live or from a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "lib/drawing/events.hpp"
#include "nvdebug/turns.hpp"

namespace nvdebugctl {

using drawing::ClockReading;
using drawing::Lane;
using drawing::LaneEnd;
using drawing::Mark;
using drawing::name_of;
using drawing::RecordedGpu;
using drawing::RecordedProcess;
using drawing::RecordingHead;
using drawing::Sink;
using drawing::TextSink;

/// Processes of all GPUs. A pid may be reused: the start distinguishes the processes.
class RecordedProcesses {
  public:
    const RecordedProcess *insert(std::uint32_t gpu, const RecordedProcess &process) {
        return &all_.insert_or_assign({gpu, process.pid, process.started}, process).first->second;
    }
    /// nullptr: not known.
    const RecordedProcess *find(std::uint32_t gpu, const nvdebug::Holder &who) const {
        if (!who.pid)
            return nullptr;
        const auto found = all_.find({gpu, *who.pid, who.started});
        return found == all_.end() ? nullptr : &found->second;
    }
    template <typename Do>
    void each(Do what) const {
        for (const auto &[key, process] : all_)
            what(std::get<0>(key), process);
    }

  private:
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint64_t>>,
             RecordedProcess>
        all_; ///< by GPU, pid, start
};

/// Since when a GPU's times of a form are counted: what they are goes into 53 bits, which is all
/// that JavaScript and most others have for a number.
struct Origin {
    std::uint64_t gpu_ns = 0;
    /// The same moment by other clocks; empty: not known.
    std::optional<std::uint64_t> monotonic_ns = {}, realtime_ns = {}, boottime_ns = {};
};

} // namespace nvdebugctl
