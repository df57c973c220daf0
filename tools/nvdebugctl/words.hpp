// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Sentences in lines. */
#ifndef NVDEBUGCTL_WORDS_HPP
#define NVDEBUGCTL_WORDS_HPP

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nvdebugctl {

/** @p text in lines that @p fits, broken at blanks; a word that fits no line has one of its own. */
std::vector<std::string> break_lines(std::string_view text,
                                     const std::function<bool(std::string_view)> &fits);

/** The same by columns, of text in ASCII. */
std::vector<std::string> break_lines(std::string_view text, std::size_t columns);

} // namespace nvdebugctl

#endif
