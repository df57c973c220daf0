// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Text in lines of limited width.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nvdebug::base {

/// @p text in lines that @p fits, broken at blanks; a word that fits no line has one of its own.
[[nodiscard]] std::vector<std::string>
break_lines(std::string_view text, const std::function<bool(std::string_view)> &fits);

/// The same by columns, of text in ASCII.
[[nodiscard]] std::vector<std::string> break_lines(std::string_view text, std::size_t columns);

} // namespace nvdebug::base
