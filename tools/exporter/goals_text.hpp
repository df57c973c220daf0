// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads the metrics that nvqos has written into a file, where no other program serves it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "nvdebug/expected.hpp"

namespace nvdebug::exporter {

/// A file that is longer is not served.
constexpr std::size_t longest_goals = 4u << 20;
/// nvqos writes the file each second, and removes it at its end. A file that is older was left by
/// an nvqos that was killed.
constexpr std::chrono::seconds oldest_goals{30};

/// Returns the text of the file of `nvqos --metrics`; empty: it is not there, or old. Fails, with a
/// sentence, if it cannot be read, or has a line that is no metric of nvqos.
[[nodiscard]] tl::expected<std::string, std::string> goals_text(const std::string &path);

} // namespace nvdebug::exporter
