// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Finds the known word that a typed word means.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nvdebug::base {

/// Returns the only word of @p words that equals @p typed or begins with it; empty: no word does,
/// or several do.
[[nodiscard]] std::optional<std::string> whole_word(std::string_view typed,
                                                    std::span<const std::string> words);

/// Returns the word of @p words that differs from @p typed at most in the case of ASCII letters.
[[nodiscard]] std::optional<std::string> same_word(std::string_view typed,
                                                   std::span<const std::string> words);

/// Returns the word of @p words that was probably meant: at most two letters differ, and fewer than
/// half of them. The case of letters does not count.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view typed,
                                                      std::span<const std::string> words);

/// Returns the end of a sentence about the unknown word @p typed: ` (did you mean 'check'?)`, `
/// (did you mean --list?)`, or `; it may be copy or check` where several words begin with it. Empty
/// if no word is similar.
[[nodiscard]] std::string guess(std::string_view typed, std::span<const std::string> words);

/// Returns @p typed in single quotes for a sentence, printable, and shortened if it is long.
[[nodiscard]] std::string quote(std::string_view typed);

/// Returns the words with commas between them, and @p last between the last two: `a, b and c`.
[[nodiscard]] std::string listed(std::span<const std::string> words, std::string_view last = ", ");

/// Returns the number and the noun that fits it: `1 launch`, `2 launches`.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view one, std::string_view many);

} // namespace nvdebug::base
