// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Finds out whether the module refuses the controls of this process. `doctor` shows the
/// reason, and controls add it to their answer.
#pragma once

#include <optional>
#include <string>

#include "machine_facts.hpp"

namespace nvdebugctl {

/// Returns a parameter of the loaded module; nullptr: the module has none of that name.
[[nodiscard]] const std::string *parameter(const Machine &machine, const std::string &name);

/// Returns whether a parameter of the loaded module is `Y`.
[[nodiscard]] bool is_set(const Machine &machine, const std::string &name);

/// Returns the right that controls need and this process lacks, as a sentence; empty: none.
[[nodiscard]] std::string rights_lacking(const Rights &rights);

/// Returns why every control is refused, and what to do about it; empty: controls are not refused.
[[nodiscard]] std::optional<std::string> controls_refused(const Machine &machine);

/// Gathers the facts without the GPUs, below @p root as gather() does, and judges them.
[[nodiscard]] std::optional<std::string> controls_refused(const std::string &root);

} // namespace nvdebugctl
