// SPDX-License-Identifier: MIT OR GPL-2.0
// Facts about the processes of this machine, from the files that proc_pid_stat(5) describes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nvdebug::base {

/// Returns field @p number of the text of /proc/PID/stat, from 3 (the state) on; empty: there is no
/// such field. Field 2, the name, may hold any bytes.
[[nodiscard]] std::string_view stat_field(std::string_view stat, int number);

/// A process by its number and its start, in clock ticks since the machine started. The number
/// alone is not enough, because Linux reuses numbers.
struct Birth {
    std::uint32_t pid;
    std::uint64_t started;
    auto operator<=>(const Birth &) const = default;
};

struct ProcessState {
    Birth birth;
    std::uint32_t parent; ///< 0: no parent
    bool has_ended;       ///< the process is a zombie, and none of its threads runs any more
};

/// Returns whether a process has ended, by the text of /proc/PID/stat. If only the first thread has
/// ended, the state is that of a zombie, but the process lives, and /proc lists its descriptors for
/// the other threads alone.
[[nodiscard]] bool has_ended(std::string_view stat);
/// Returns whether the first thread has ended, by the same text.
[[nodiscard]] bool has_first_thread_ended(std::string_view stat);

/// Returns the state of a process; empty: the process does not exist, or is hidden from this one.
[[nodiscard]] std::optional<ProcessState> state_of(std::uint32_t pid);

/// Returns whether this very process still lives.
[[nodiscard]] bool lives(const Birth &process);

/// Returns all processes that have not ended and are not hidden from this one, in no order; at most
/// 0x40000 processes, which take 3 s to read.
[[nodiscard]] std::vector<ProcessState> all_processes();

/// Returns the parent of a process; 0: the process has no parent. Empty: the process has ended, or
/// is hidden from this one.
[[nodiscard]] std::optional<std::uint32_t> parent_of(std::uint32_t pid);

/// Returns whether @p pid is @p ancestor or descends from it. Returns false where a process between
/// the two has ended.
[[nodiscard]] bool descends_from(std::uint32_t pid, std::uint32_t ancestor);

} // namespace nvdebug::base
