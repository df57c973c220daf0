// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Requests to change how the GPU schedules. A request is data, so that it can be shown
/// before it is made; Gpu::perform() and Gpu::lease() make it. What each does, when it takes effect
/// and what undoes it: docs/proc.md.
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

/// A channel or a TSG; without a runlist, the kernel finds the one that holds it.
struct Target {
    std::optional<std::uint32_t> runlist;
    std::uint32_t id;
    bool operator==(const Target &) const = default;
};

/// `ID` or `RUNLIST:ID`, numbers decimal or `0x…`; not `010`, which might be meant as octal.
NVDEBUG_API Result<Target> parse_target(std::string_view text);
NVDEBUG_API std::string to_string(const Target &target);

enum class Listed { channel, tsg };

/// The one of @p lists that holds what @p target names.
/// @returns a pointer into @p lists, or an error that names what they hold, or which several hold
/// it
NVDEBUG_API Result<const Runlist *> holder_of(std::span<const Runlist> lists, const Target &target,
                                              Listed kind);
Result<const Runlist *> holder_of(const std::vector<Runlist> &&lists, const Target &target,
                                  Listed kind) = delete;

struct Request {
    std::string file; ///< in the GPU's folder: `disable_channel`
    std::string text; ///< `0:5 0:6`
    bool leasable;    ///< can be undone when a Lease ends
};

enum class PreemptionMode { wfi, cta, cilp };

NVDEBUG_API Request disable_channels(std::span<const Target> channels);
NVDEBUG_API Request enable_channels(std::span<const Target> channels);
NVDEBUG_API Request preempt_tsgs(std::span<const Target> tsgs);
NVDEBUG_API Request switch_to_tsg(const Target &tsg);
/// The hardware rounds @p ns further; the answer has the result.
/// @param tsg the TSG that gets the timeslice
/// @param ns the file has microseconds with three decimals
NVDEBUG_API Request set_timeslice(const Target &tsg, std::uint64_t ns);
NVDEBUG_API Request preempt_runlists(std::span<const std::uint32_t> runlists);
NVDEBUG_API Request resubmit_runlists(std::span<const std::uint32_t> runlists);
NVDEBUG_API Request schedule_runlists(std::span<const std::uint32_t> runlists, bool on);
NVDEBUG_API Request set_preemption_mode(const Target &channel, PreemptionMode mode);

// The same with the targets written there: disable_channels({{0, 2}, {0, 3}}).

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

// By process, which only NVIDIA's driver as the source takes (Source::driver): docs/nvdebugctl.md.
// Of all TSGs and channels that the processes have on the GPU now; of all processes, or of none.

using Pids = std::span<const std::uint32_t>;
/// What the runlist of a TSG has of it: once, or more often than those below it.
enum class Interleave { low, medium, high };

NVDEBUG_API Request pause_tasks(Pids pids);
NVDEBUG_API Request resume_tasks(Pids pids);
NVDEBUG_API Request preempt_tasks(Pids pids);
/// The driver takes whole microseconds.
NVDEBUG_API Request set_task_timeslice(Pids pids, std::uint64_t ns);
NVDEBUG_API Request set_task_interleave(Pids pids, Interleave level);
NVDEBUG_API Request set_task_preemption(Pids pids, PreemptionMode mode);

/// A TSG and how long its turn is.
struct TsgTimeslice {
    Target tsg;
    std::uint64_t ns;
};
/// All of them or none; of more than one, only NVIDIA's driver as the source takes it.
NVDEBUG_API Request set_timeslices(std::span<const TsgTimeslice> timeslices);

/// The answer to set_timeslice(). Times in ns.
struct TimesliceChange {
    std::uint32_t runlist, tsg;
    std::uint64_t asked_ns, old_ns, new_ns;
    std::uint32_t timeout, scale;
    std::uint32_t headers; ///< of the TSG in the list, all changed
};
NVDEBUG_API Result<TimesliceChange> parse_timeslice_change(std::string_view text);

/// A change that is undone when this object ends, however the process ends: with the module, the
/// kernel undoes it when the file it was written through is closed (docs/proc.md, Leases); with
/// NVIDIA's driver, a process that was forked for it does (docs/nvdebugctl.md). Movable; a forked
/// child that keeps the descriptor keeps the lease.
class NVDEBUG_API Lease {
  public:
    Lease(Lease &&other) noexcept;
    Lease &operator=(Lease &&other) noexcept;
    ~Lease();

    /// What the control answered, empty if it does not answer.
    const std::string &answer() const { return answer_; }

    /// Undoes the request now. Read the state to see whether everything was put back; the module
    /// also logs it.
    void end();
    /// After end(): a sentence about what NVIDIA's driver refused to undo, with the processes and
    /// the commands that undo it; a process that was forked goes on trying. Empty: nothing was
    /// refused, or the module undoes it.
    std::string left() const { return left_ ? *left_ : std::string(); }

    /// @p held is undone with the last reference to it, and may then write to @p left.
    Lease(std::shared_ptr<const void> held, std::string answer,
          std::shared_ptr<const std::string> left = nullptr);

  private:
    std::shared_ptr<const void> held_;
    std::string answer_;
    std::shared_ptr<const std::string> left_;
};

} // namespace nvdebug
