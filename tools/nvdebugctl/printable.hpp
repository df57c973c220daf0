// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Text of others, for a terminal or a picture: it must not steer either. */
#ifndef NVDEBUGCTL_PRINTABLE_HPP
#define NVDEBUGCTL_PRINTABLE_HPP

#include <string>
#include <string_view>

namespace nvdebugctl {

/** @p text with U+FFFD for each control character (newline and tab as well), noncharacter of XML
 *  and byte that is not UTF-8. */
std::string printable(std::string_view text);

} // namespace nvdebugctl

#endif
