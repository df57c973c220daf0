// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which processes a command is about: by PID, or by options.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/context.hpp"
#include "nvdebug/task.hpp"

namespace nvdebugctl {

[[nodiscard]] std::vector<Option> selection_options();

/// What the options select; empty: PIDs were given.
[[nodiscard]] nvdebug::TaskSelection selection_of(const Context &context);

/// Command::check of the options alone: those that are given are valid.
[[nodiscard]] Outcome<void> check_selection_options(const Context &context);

/// Notes what a list by options does not show: that no process fits (@p any is false), and that a
/// name is longer than Linux keeps.
void note_selection(Context &context, bool any);

/// Command::check of PID and the options: one of the two is given, and valid.
[[nodiscard]] Outcome<void> check_selection(const Context &context);

/// PIDs as they were given, or those with a GPU context that the options select; fails if there are
/// none.
[[nodiscard]] Outcome<std::vector<std::uint32_t>> selected(Context &context);

} // namespace nvdebugctl
