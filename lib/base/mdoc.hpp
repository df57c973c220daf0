// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes the texts of command tables as source of man pages, in the macros of mdoc(7).
#pragma once

#include <string>

namespace nvdebug::base::mdoc {

/// Returns @p text with a line for each sentence, escaped so that no line is taken for a macro.
[[nodiscard]] std::string text(const std::string &text);
/// Returns @p word escaped for the line of a macro.
[[nodiscard]] std::string word(const std::string &word);
/// Returns @p help, which begins in lower case and has no full stop, as lines of text.
[[nodiscard]] std::string sentence(std::string help);
/// Returns the name of a value as it stands behind `Ar`: `N | N%` of `N|N%`.
[[nodiscard]] std::string value(const std::string &name);
/// Returns `Fl Fl brief` of `--brief`.
[[nodiscard]] std::string flag(const std::string &name);
/// Returns `Fl n , Fl Fl count Ar COUNT`. @p short_name and @p value may be empty.
[[nodiscard]] std::string flags(const std::string &short_name, const std::string &name,
                                const std::string &value);
/// Returns @p items, each of which begins with `.It`, as a list; empty if there are no items.
[[nodiscard]] std::string list(const std::string &items);

} // namespace nvdebug::base::mdoc
