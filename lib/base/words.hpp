// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Words that were typed, and those that are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nvdebug::base {

/// Returns the only one of @p words that is @p typed or begins with it; empty: none, or several.
[[nodiscard]] std::optional<std::string> whole_word(std::string_view typed,
                                                    std::span<const std::string> words);

/// Returns the one of @p words that is @p typed but for the case of (ASCII) letters.
[[nodiscard]] std::optional<std::string> same_word(std::string_view typed,
                                                   std::span<const std::string> words);

/// Returns the one of @p words that was probably meant: two letters are wrong at most, fewer than
/// half of them, and their case does not count.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view typed,
                                                      std::span<const std::string> words);

/// Returns what a sentence about the unknown word @p typed goes on with: ` (did you mean
/// 'check'?)`, ` (did you mean --list?)`, `; it may be copy or check` where several words begin so;
/// empty: nothing is near.
[[nodiscard]] std::string guess(std::string_view typed, std::span<const std::string> words);

/// Returns @p typed in single quotes for a sentence: printable, and cut where it is long.
[[nodiscard]] std::string quote(std::string_view typed);

/// Returns `a, b and c` with @p last between the last two.
[[nodiscard]] std::string listed(std::span<const std::string> words, std::string_view last = ", ");

/// Returns the number and the noun that fits it: `1 launch`, `2 launches`.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

} // namespace nvdebug::base
