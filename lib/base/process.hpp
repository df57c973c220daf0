// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes of this machine, as proc_pid_stat(5) describes them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nvdebug::base {

/// Field @p number of the text of /proc/PID/stat, from 3 (the state) on; empty: there is none. The
/// name before it, field 2, may hold any bytes.
[[nodiscard]] std::string_view stat_field(std::string_view stat, int number);

/// A process by its number and when it was started, in clock ticks since the machine was: the
/// number alone may be another's later.
struct Birth {
    std::uint32_t pid;
    std::uint64_t started;
    auto operator<=>(const Birth &) const = default;
};

struct ProcessState {
    Birth birth;
    std::uint32_t parent; ///< 0: it has none
    bool has_ended;       ///< it is a zombie, and none of its threads goes on
};

/// Has a process ended, by the text of /proc/PID/stat? Its first thread may end before the others:
/// then its state is that of a zombie, and its descriptors are shown for its other threads alone.
[[nodiscard]] bool has_ended(std::string_view stat);
/// The same of the first thread.
[[nodiscard]] bool has_first_thread_ended(std::string_view stat);

/// Empty: there is no such process, or it is hidden from this one.
[[nodiscard]] std::optional<ProcessState> state_of(std::uint32_t pid);

/// Is it the same process still, and has it not ended?
[[nodiscard]] bool lives(const Birth &process);

/// All processes that are not hidden from this one and have not ended, in no order; at most
/// 0x40000, which take 3 s to read.
[[nodiscard]] std::vector<ProcessState> all_processes();

/// The parent of a process; 0: it has none. Empty: it has ended, or is hidden from this one.
[[nodiscard]] std::optional<std::uint32_t> parent_of(std::uint32_t pid);

/// Is @p pid @p ancestor, or does it descend from it? False where a process between the two has
/// ended.
[[nodiscard]] bool descends_from(std::uint32_t pid, std::uint32_t ancestor);

} // namespace nvdebug::base
