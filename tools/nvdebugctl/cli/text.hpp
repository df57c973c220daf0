// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Words: ids, times and sentences as people read and type them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/lines.hpp"
#include "lib/base/printable.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

using nvdebug::fold_ids;
using nvdebug::base::break_lines;
using nvdebug::base::printable;

/// `1 channel`, `3 channels`, `2 processes`.
[[nodiscard]] std::string count_of(std::size_t count, std::string_view singular);

/// `TSG 5`, `channel 3`
[[nodiscard]] std::string name_of(const nvdebug::Occupant &occupant);

/// UTC, ISO 8601 with milliseconds: `2026-01-31T12:00:00.250Z`
[[nodiscard]] std::string format_utc(std::chrono::system_clock::time_point time);

/// `500us`, `2ms`, `1.5ms`, `1s`, `10m` or `10min`, `1h` in ns; no finer than 1 ns.
/// @param bare the unit of a number alone
[[nodiscard]] std::optional<std::uint64_t> parse_timespan_ns(std::string_view text,
                                                             std::string_view bare = "us");
/// The same in whole milliseconds, of which a number alone is.
[[nodiscard]] std::optional<std::uint64_t> parse_milliseconds(std::string_view text);
/// What parse_timespan_ns() takes, for messages.
inline constexpr const char *timespan_examples = "10, 10s, 500ms, 200us, 10m or 1h";

/// A number as proc.md has it: decimal or `0x…`, and no leading 0.
[[nodiscard]] std::optional<std::uint64_t> parse_integer(const std::string &word);
/// Such a number that fits an id.
[[nodiscard]] std::optional<std::uint32_t> parse_id(const std::string &word);

// Words that were typed, and those that are known.

/// The only one of @p words that is @p typed or begins with it; empty: none, or several.
[[nodiscard]] std::optional<std::string> whole_word(std::string_view typed,
                                                    std::span<const std::string> words);

/// The one of @p words that was probably meant: up to two letters are wrong, or it was cut off.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view typed,
                                                      std::span<const std::string> words);

} // namespace nvdebugctl
