// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A scenario from its file.
#pragma once

#include <functional>
#include <string_view>

#include "nvdebug/expected.hpp"
#include "scenario.hpp"

namespace simulation {

/// Reads a goal as it stands on a command line, or returns why it is none.
using ReadGoal = std::function<tl::expected<qos::Goal, std::string>(std::string_view)>;

/// The largest file of a scenario.
inline constexpr std::size_t largest_scenario = std::size_t{16} << 20;

/// Reads a scenario, or returns a sentence that names the field which makes no sense, as
/// `jobs[1].program[0].kernel_us`.
tl::expected<Scenario, std::string> read_scenario(std::string_view text, const ReadGoal &read_goal);

} // namespace simulation
