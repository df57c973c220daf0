// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Ids, times and sentences as people read and type them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/lines.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/words.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

using nvdebug::fold_ids;
using nvdebug::base::break_lines;
using nvdebug::base::guess;
using nvdebug::base::parse_time_ns;
using nvdebug::base::printable;
using nvdebug::base::quote;
using nvdebug::base::whole_word;

/// Returns for example `1 channel`, `3 channels`, `2 processes`.
[[nodiscard]] std::string count_of(std::size_t count, std::string_view singular);

/// Returns for example `TSG 5` or `channel 3`.
[[nodiscard]] std::string name_of(const nvdebug::Occupant &occupant);

/// Returns the time in UTC, ISO 8601 with milliseconds: `2026-01-31T12:00:00.250Z`.
[[nodiscard]] std::string format_utc(std::chrono::system_clock::time_point time);

/// Parses a number as docs/proc.md defines it: decimal or `0x…`, without leading zeros.
[[nodiscard]] std::optional<std::uint64_t> parse_integer(const std::string &word);
/// Parses such a number, and fails if it does not fit an id.
[[nodiscard]] std::optional<std::uint32_t> parse_id(const std::string &word);

} // namespace nvdebugctl
