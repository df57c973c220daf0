// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes of this machine, as proc_pid_stat(5) describes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvdebug::base {

/// Field @p number of the text of /proc/PID/stat, from 3 (the state) on; empty: there is none. The
/// name before it, field 2, may hold any bytes.
[[nodiscard]] std::string_view stat_field(std::string_view stat, int number);

/// The parent of a process; 0: it has none. Empty: it has ended, or is hidden from this one.
[[nodiscard]] std::optional<std::uint32_t> parent_of(std::uint32_t pid);

/// Is @p pid @p ancestor, or does it descend from it? False where a process between the two has
/// ended.
[[nodiscard]] bool descends_from(std::uint32_t pid, std::uint32_t ancestor);

} // namespace nvdebug::base
