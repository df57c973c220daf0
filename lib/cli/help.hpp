// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What --help prints, in lines of a given width.
#pragma once

#include <cstddef>
#include <string>

#include "lib/cli/table.hpp"

namespace nvdebug::cli {

/// Returns the help of @p verb; null, of a program with verbs: the list of them.
/// @param width in columns, of each line
[[nodiscard]] std::string help_text(const Program &program, const Verb *verb, std::size_t width);

/// Returns how the verb is typed, a line for each way, without the word "Usage".
[[nodiscard]] std::vector<Example> usage_of(const Program &program, const Verb &verb);

/// Returns the option's help with its choices and the default: `which bounds: a (default), b`.
[[nodiscard]] std::string help_of(const Option &option);

} // namespace nvdebug::cli
