// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The state of readers and writers of recordings. The events are in lib/drawing/events.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "lib/drawing/events.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/turns.hpp"

namespace recording {

using drawing::RecordedProcess;

/// Returns the process as the library has it.
inline nvdebug::Process process_of(const RecordedProcess &process) {
    return {process.pid, process.command, process.cgroup, {}, process.started, process.launcher};
}

/// The processes of all GPUs. The time of its start distinguishes a process from others of the same
/// pid.
class RecordedProcesses {
  public:
    const RecordedProcess *insert(std::uint32_t gpu, const RecordedProcess &process) {
        return &all_.insert_or_assign({gpu, process.pid, process.started}, process).first->second;
    }
    /// Returns the process that had the turn; nullptr: it is not known.
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
        all_; ///< by GPU, pid and start
};

/// The moment from which a form counts a GPU's times. The differences fit into 53 bits, which is
/// all that JavaScript and many other programs have for an integer.
struct Origin {
    std::uint64_t gpu_ns = 0;
    /// The same moment by the machine's clocks; empty: not known.
    std::optional<std::uint64_t> monotonic_ns = {}, realtime_ns = {}, boottime_ns = {};
};

} // namespace recording
