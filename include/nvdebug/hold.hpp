// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Tasks that a program changes again and again: what takes a search is done once.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/error.hpp"

namespace nvdebug {

/// How a task is to be.
struct TaskState {
    /// Of each of its TSGs, in whole microseconds; empty: as it was before.
    std::optional<std::uint64_t> timeslice_ns = {};
    bool paused = false; ///< all of its channels are disabled
    bool operator==(const TaskState &) const = default;
};

/// A channel by the driver's name of its client, and the client's of it: no hardware ids.
struct HeldChannel {
    std::uint32_t client, channel;
    auto operator<=>(const HeldChannel &) const = default;
};

/// All TSGs and channels that processes had when Gpu::hold() was called. What was changed is undone
/// when this object or its process ends, however it ends, and when nothing was asked for longer
/// than HoldOptions::patience: a program that is suspended keeps nothing changed. A process that
/// was forked for it (docs/nvdebugctl.md) does all of that. An undo that NVIDIA's driver refuses is
/// repeated by that process until it is done, or the processes have ended. One thread at a time.
class TaskHold {
  public:
    virtual ~TaskHold() = default;
    /// Returns before it is done, so that several holds are asked at once. A timeslice is not set
    /// again, unless another program has changed it; a pause is asked for each time.
    virtual Result<void> ask(const TaskState &wanted) = 0;
    /// Waits until it is done. ErrorCode::not_found: the processes have ended.
    virtual Result<void> finish() = 0;
    /// The number of TSGs that get the timeslice.
    virtual std::size_t tsgs() const = 0;
    virtual const std::vector<HeldChannel> &channels() const = 0;
};

/// Those of Gpu::hold_each(), each with its own error.
using TaskHolds = std::vector<Result<std::unique_ptr<TaskHold>>>;

/// A process that a helper has left changed, as it was killed, and its program with it.
struct LeftOver {
    std::uint32_t pid;
    std::string command;      ///< at most 15 bytes, of the process' choice; empty: not known
    std::size_t channels = 0; ///< that may be disabled, or enabled, though they were not before
    std::size_t tsgs = 0;     ///< whose timeslice, interleave level or preemption mode may differ
    bool restored = false;    ///< all of it is as it was before
};

struct LeftOvers {
    std::vector<LeftOver> tasks; ///< by pid
    /// Sentences about tasks that could not be restored, and about files that make no sense.
    std::vector<std::string> troubles;
};

struct HoldOptions {
    /// Timeslices are those of TSGs in this runlist alone, where lists can be read; empty: of all.
    std::optional<std::uint32_t> runlist = {};
    std::chrono::milliseconds patience{1000};
    /// Channels of other holds: left out, with the timeslices of their TSGs. Holds what a process
    /// has made since, and nothing is restored meanwhile.
    std::vector<HeldChannel> except = {};
    /// Called by the end of a hold, in its thread, if something could not be put back: with a
    /// sentence that names the processes and the commands that do it. A process that was forked
    /// goes on trying.
    std::function<void(const std::string &)> report_left = {};
};

} // namespace nvdebug
