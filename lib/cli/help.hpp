// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Makes the text of --help, in lines of a given width.
#pragma once

#include <cstddef>
#include <string>

#include "lib/cli/table.hpp"

namespace nvdebug::cli {

/// Returns the help of @p verb; null: the list of verbs of a program that has several.
/// @param width of each line, in columns
[[nodiscard]] std::string help_text(const Program &program, const Verb *verb, std::size_t width);

/// Returns the ways to type the verb, without the word "Usage".
[[nodiscard]] std::vector<Example> usage_of(const Program &program, const Verb &verb);

/// Returns the option's help with its choices and the default: `which bounds: a (default), b`.
[[nodiscard]] std::string help_of(const Option &option);

} // namespace nvdebug::cli
