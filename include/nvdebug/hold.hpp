// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Holds on tasks, by which a program changes them repeatedly after a single search.
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

/// The wanted state of a task.
struct TaskState {
    /// The timeslice of each TSG, in whole microseconds; empty: the timeslice from before the hold.
    std::optional<std::uint64_t> timeslice_ns = {};
    bool paused = false; ///< all of its channels are disabled
    bool operator==(const TaskState &) const = default;
};

/// A channel, by the driver's name of its client and the client's name of the channel. These are no
/// hardware ids.
struct HeldChannel {
    std::uint32_t client, channel;
    auto operator<=>(const HeldChannel &) const = default;
};

/// Holds all TSGs and channels that processes had when Gpu::hold() was called. Changes are undone
/// when this object or its process ends, however that happens. They are also undone when no state
/// was asked for during HoldOptions::patience, so that a suspended program keeps nothing changed. A
/// forked process (docs/nvdebugctl.md) makes and undoes the changes. If NVIDIA's driver refuses an
/// undo, that process repeats it until it succeeds or the processes have ended. Only one thread may
/// use a hold at a time.
class TaskHold {
  public:
    virtual ~TaskHold() = default;
    /// Asks for a state and returns before it is reached, so that several holds can be asked at
    /// once. A timeslice is only set again if another program has changed it; a pause is repeated
    /// each time.
    virtual Result<void> ask(const TaskState &wanted) = 0;
    /// Waits until the state is reached. ErrorCode::not_found: the processes have ended.
    virtual Result<void> finish() = 0;
    /// Returns the number of TSGs that get the timeslice.
    virtual std::size_t tsgs() const = 0;
    /// Returns the channels of this hold.
    virtual const std::vector<HeldChannel> &channels() const = 0;
};

/// The holds of Gpu::hold_each(), each with its own error.
using TaskHolds = std::vector<Result<std::unique_ptr<TaskHold>>>;

/// A process that is still changed, because a helper and the helper's program were killed.
struct LeftOver {
    std::uint32_t pid;
    std::string command;      ///< at most 15 bytes, chosen by the process; empty: unknown
    std::size_t channels = 0; ///< how many channels may be disabled or enabled unlike before
    std::size_t tsgs = 0;     ///< how many TSGs may have another timeslice, interleave level or
                              ///< preemption mode
    bool restored = false;    ///< nothing of it is left changed
};

/// The result of Gpu::left_overs() and Gpu::restore().
struct LeftOvers {
    std::vector<LeftOver> tasks; ///< by pid
    /// Sentences about tasks that could not be restored, and about files that are no valid lists of
    /// changes.
    std::vector<std::string> troubles;
};

/// Options of Gpu::hold() and Gpu::hold_each().
struct HoldOptions {
    /// Only the TSGs in this runlist get timeslices, where lists can be read; empty: all TSGs do.
    std::optional<std::uint32_t> runlist = {};
    /// The time without ask() after which the changes are undone.
    std::chrono::milliseconds patience{1000};
    /// Channels of other holds, which this hold leaves out together with the timeslices of their
    /// TSGs. So a new hold can have what a process has made since, while the other holds restore
    /// nothing.
    std::vector<HeldChannel> except = {};
    /// Called at the end of a hold, in its thread, if something could not be restored. The sentence
    /// names the processes and the commands that restore them. The forked process keeps trying.
    std::function<void(const std::string &)> report_left = {};
};

} // namespace nvdebug
