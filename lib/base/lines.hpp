// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Text in lines of limited width.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nvdebug::base {

/// Breaks @p text at blanks into lines for which @p fits returns true. A word that fits no line
/// gets a line of its own.
[[nodiscard]] std::vector<std::string>
break_lines(std::string_view text, const std::function<bool(std::string_view)> &fits);

/// Breaks ASCII text at blanks into lines of at most @p columns.
[[nodiscard]] std::vector<std::string> break_lines(std::string_view text, std::size_t columns);

/// Returns the width of text in columns, with a column for each character.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Returns the first @p columns columns of @p text.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t columns);

} // namespace nvdebug::base
