// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Times, parts and whole numbers as people type them, alike in all programs.
///
/// A time has a unit: `500us`, `2ms`, `1.5ms`, `8 ms`, `8MS`, `10s`, `10m` or `10min`, `1h`. A
/// number alone has a unit only where the caller gives one, because programs that mean seconds and
/// programs that mean microseconds would otherwise take the same words. A part has its sign, `30%`:
/// `0.3` is refused, because it may be a third of a percent as well as a third of the whole.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "nvdebug/expected.hpp"

namespace nvdebug::base {

/// The longest accepted time: 31 years, so that the sum of two times cannot overflow.
inline constexpr std::uint64_t longest_time_ns = 1'000'000'000'000'000'000;

/// Returns the time in ns; empty: @p text is not a time, or is finer than 1 ns.
/// @param bare the unit of a number alone; empty: a number alone is not a time
[[nodiscard]] std::optional<std::uint64_t> parse_time_ns(std::string_view text,
                                                         std::string_view bare = "");

/// The times that an option accepts, in ns.
struct TimeRule {
    std::uint64_t least = 0, most = longest_time_ns;
    std::string_view bare = ""; ///< `s`, `ms` or `us`; empty: a time needs a unit
};

/// Returns the time in ns. Fails with a sentence that has @p name, the accepted times and the text.
[[nodiscard]] tl::expected<std::uint64_t, std::string>
take_time_ns(std::string_view name, std::string_view text, const TimeRule &rule);

/// Returns what @p rule accepts, to follow `takes ` in a sentence: `a time from 1ms to 1s, as …`.
[[nodiscard]] std::string describe(const TimeRule &rule);

/// Returns a time with the largest unit in which it is whole: `500us`, `2ms`, `90s`.
[[nodiscard]] std::string time_text(std::uint64_t ns);

/// Returns a time as tables and messages of all programs show it: rounded to three significant
/// digits, and to whole seconds from 100 s on. `512ns`, `1.02us`, `2.00ms`, `-31.4ms`, `90.0s`;
/// documents of JSON have the exact number.
/// @param gap stands between the number and its unit: a blank in sentences, nothing in columns
[[nodiscard]] std::string short_time(std::int64_t ns, std::string_view gap = "");

/// Returns a decimal number in millionths; empty: @p text is not a number, is negative, or has more
/// than nine digits or six decimals.
[[nodiscard]] std::optional<std::int64_t> parse_millionths(std::string_view text);

/// Returns the percentage of `30%` or `12.5%` in millionths of a percent, above 0 and at most 100%.
[[nodiscard]] std::optional<std::int64_t> parse_percent(std::string_view text);

/// Returns what to write in place of a part that parse_percent() refuses, to end a sentence: ` (did
/// you mean 30%?)`; empty: the part is not a number.
[[nodiscard]] std::string percent_guess(std::string_view text);

/// Returns the whole number that is all of @p text, in decimal digits.
[[nodiscard]] std::optional<std::int64_t>
parse_whole(std::string_view text, std::int64_t least = 0,
            std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// Returns the number. Fails with a sentence that has @p name, the accepted numbers and the text.
[[nodiscard]] tl::expected<std::int64_t, std::string>
take_whole(std::string_view name, std::string_view text, std::int64_t least, std::int64_t most);

} // namespace nvdebug::base
