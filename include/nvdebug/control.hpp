// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Requests that change how the GPU schedules. A request is data, so that a program can show
/// it before it makes it with Gpu::perform() or Gpu::lease(). docs/proc.md has the effect of each
/// request, when it takes effect, and what undoes it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nvdebug/error.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebug {

/// A channel or a TSG. Without a runlist, the kernel finds the runlist that has it.
struct Target {
    std::optional<std::uint32_t> runlist;
    std::uint32_t id;
    bool operator==(const Target &) const = default;
};

/// Parses `ID` or `RUNLIST:ID`, with numbers in decimal or as `0x…`. `010` is refused, because it
/// might be meant as octal.
NVDEBUG_API Result<Target> parse_target(std::string_view text);
/// Returns `ID` or `RUNLIST:ID`.
NVDEBUG_API std::string to_string(const Target &target);

/// The kind of an object in a runlist.
enum class Listed { channel, tsg };

/// Returns the list that has @p target, as a pointer into @p lists. Fails with a sentence that says
/// what the lists have, or which of several lists have the target.
NVDEBUG_API Result<const Runlist *> holder_of(std::span<const Runlist> lists, const Target &target,
                                              Listed kind);
Result<const Runlist *> holder_of(const std::vector<Runlist> &&lists, const Target &target,
                                  Listed kind) = delete;

/// A request, as the text that is written to a file of the GPU.
struct Request {
    std::string file; ///< in the GPU's folder: `disable_channel`
    std::string text; ///< `0:5 0:6`
    bool leasable;    ///< can be undone when a Lease ends
};

/// The points at which compute work can be preempted: when the engine is idle (WFI), at the end of
/// thread blocks (CTA), or at any instruction (CILP).
enum class PreemptionMode { wfi, cta, cilp };

/// Keeps channels from being scheduled.
NVDEBUG_API Request disable_channels(std::span<const Target> channels);
/// Lets channels be scheduled again.
NVDEBUG_API Request enable_channels(std::span<const Target> channels);
/// Preempts TSGs, which are scheduled again in their turns.
NVDEBUG_API Request preempt_tsgs(std::span<const Target> tsgs);
/// Replaces the runlist by a list of this TSG alone, until resubmit_runlists().
NVDEBUG_API Request switch_to_tsg(const Target &tsg);
/// Sets the timeslice of a TSG. The hardware rounds @p ns further, and the answer has the result.
/// @param ns the file has microseconds with three decimals
NVDEBUG_API Request set_timeslice(const Target &tsg, std::uint64_t ns);
/// Preempts the running TSGs of these runlists.
NVDEBUG_API Request preempt_runlists(std::span<const std::uint32_t> runlists);
/// Submits the driver's lists again, which replace lists of switch_to_tsg().
NVDEBUG_API Request resubmit_runlists(std::span<const std::uint32_t> runlists);
/// Turns the scheduling of runlists on or off.
NVDEBUG_API Request schedule_runlists(std::span<const std::uint32_t> runlists, bool on);
/// Sets the compute preemption mode of the channel's context.
NVDEBUG_API Request set_preemption_mode(const Target &channel, PreemptionMode mode);

// The same functions with the targets in braces: disable_channels({{0, 2}, {0, 3}}).

inline Request disable_channels(std::initializer_list<Target> channels) {
    return disable_channels(std::span(channels.begin(), channels.size()));
}
inline Request enable_channels(std::initializer_list<Target> channels) {
    return enable_channels(std::span(channels.begin(), channels.size()));
}
inline Request preempt_tsgs(std::initializer_list<Target> tsgs) {
    return preempt_tsgs(std::span(tsgs.begin(), tsgs.size()));
}
inline Request preempt_runlists(std::initializer_list<std::uint32_t> runlists) {
    return preempt_runlists(std::span(runlists.begin(), runlists.size()));
}
inline Request resubmit_runlists(std::initializer_list<std::uint32_t> runlists) {
    return resubmit_runlists(std::span(runlists.begin(), runlists.size()));
}
inline Request schedule_runlists(std::initializer_list<std::uint32_t> runlists, bool on) {
    return schedule_runlists(std::span(runlists.begin(), runlists.size()), on);
}

// The following requests are about all TSGs and channels that the processes have on the GPU now.
// They change all of these processes or none. Only NVIDIA's driver as the source takes them
// (Source::driver): docs/nvdebugctl.md.

using Pids = std::span<const std::uint32_t>;
/// How often a runlist has a TSG in a round: `low` once, and the higher levels more often than the
/// levels below.
enum class Interleave { low, medium, high };

/// Disables all channels of the processes.
NVDEBUG_API Request pause_tasks(Pids pids);
/// Enables all channels of the processes.
NVDEBUG_API Request resume_tasks(Pids pids);
/// Preempts all TSGs of the processes.
NVDEBUG_API Request preempt_tasks(Pids pids);
/// Sets the timeslice, in whole microseconds because the driver takes no fractions.
NVDEBUG_API Request set_task_timeslice(Pids pids, std::uint64_t ns);
/// Sets how often runlists have the TSGs of the processes.
NVDEBUG_API Request set_task_interleave(Pids pids, Interleave level);
/// Sets the compute preemption mode of the processes' contexts.
NVDEBUG_API Request set_task_preemption(Pids pids, PreemptionMode mode);

/// A TSG, and the timeslice to set for it.
struct TsgTimeslice {
    Target tsg;
    std::uint64_t ns;
};
/// Sets the timeslices of all TSGs or of none. Only NVIDIA's driver as the source takes more than
/// one.
NVDEBUG_API Request set_timeslices(std::span<const TsgTimeslice> timeslices);

/// The answer to set_timeslice(), with times in ns.
struct TimesliceChange {
    std::uint32_t runlist, tsg;
    std::uint64_t asked_ns, old_ns, new_ns;
    std::uint32_t timeout, scale;
    std::uint32_t headers; ///< headers of the TSG in the list, all of which were changed
};
/// Parses the answer to set_timeslice().
NVDEBUG_API Result<TimesliceChange> parse_timeslice_change(std::string_view text);

/// A change that is undone when this object ends, however the process ends. With the module, the
/// kernel undoes it when the file is closed through which it was written (docs/proc.md, Leases).
/// With NVIDIA's driver, a process that was forked for the lease undoes it (docs/nvdebugctl.md). A
/// lease can be moved. A forked child that keeps the descriptor keeps the lease.
class NVDEBUG_API Lease {
  public:
    Lease(Lease &&other) noexcept;
    Lease &operator=(Lease &&other) noexcept;
    ~Lease();

    /// Returns the answer of the control; empty: it does not answer.
    const std::string &answer() const { return answer_; }

    /// Undoes the request now. Reading the state shows whether everything was restored; the module
    /// also logs it.
    void end();
    /// Returns, after end(), a sentence about changes that NVIDIA's driver refused to undo, with
    /// the processes and the commands that undo them. The forked process keeps trying. Empty if the
    /// driver refused nothing, or if the module undoes the change.
    std::string left() const { return left_ ? *left_ : std::string(); }

    /// Makes a lease of @p held. Its last reference undoes the change and may then write to @p
    /// left.
    Lease(std::shared_ptr<const void> held, std::string answer,
          std::shared_ptr<const std::string> left = nullptr);

  private:
    std::shared_ptr<const void> held_;
    std::string answer_;
    std::shared_ptr<const std::string> left_;
};

} // namespace nvdebug
