// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes text from other programs safe to show in a terminal, a picture or a label.
#pragma once

#include <string>
#include <string_view>

namespace nvdebug::base {

/// Returns @p text with U+FFFD for each control character (newline and tab as well), line
/// separator, mark that changes the direction of text, noncharacter of XML and byte that is not
/// UTF-8.
std::string printable(std::string_view text);

} // namespace nvdebug::base
