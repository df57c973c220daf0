// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Selects the processes of a command: by PID, or by options.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/context.hpp"
#include "nvdebug/task.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Option> selection_options();

/// Returns the selection that the options make; empty: PIDs were given.
[[nodiscard]] nvdebug::TaskSelection selection_of(const Context &context);

/// The Command::check of a command that takes only the options: all given options must be valid.
[[nodiscard]] Outcome<void> check_selection_options(const Context &context);

/// Adds notes about a list that options select: no process fits (@p any is false), or a name is
/// longer than Linux keeps.
void note_selection(Context &context, bool any);

/// The Command::check of a command that takes PIDs or the options: one of the two must be given,
/// and be valid.
[[nodiscard]] Outcome<void> check_selection(const Context &context);

/// Returns the PIDs that were given, or those of the processes with a GPU context that the options
/// select. Fails if there are none.
[[nodiscard]] Outcome<std::vector<std::uint32_t>> selected(Context &context);

} // namespace nvdebugctl
