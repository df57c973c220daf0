// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Sentences for the user, and errors as JSON for programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nvdebug::cli {

/// Returns how many columns lines for @p descriptor may have: those of COLUMNS, else of its
/// terminal, else 80.
[[nodiscard]] std::size_t columns_of(int descriptor);

/// Returns the sentence with a newline. If @p descriptor is a terminal, it is broken at words.
/// Elsewhere it is one line, so that each line of a log is a sentence.
[[nodiscard]] std::string paragraph(std::string_view sentence, int descriptor);

/// Returns `PROGRAM: SENTENCE` as a paragraph() for stderr, with what is not printable replaced.
[[nodiscard]] std::string message(std::string_view program, std::string_view sentence);

/// Prints message() on stderr.
void say(std::string_view program, std::string_view sentence);

/// Writes all of @p text to stdout. Returns the errno of what could not be written; 0: all was.
[[nodiscard]] int write_out(std::string_view text);

/// The version of documents of errors, which nvdebugctl's other documents have, too.
inline constexpr const char *schema_version = "1.4";

/// Returns an error as a line of JSON, in the form of nvdebugctl's: docs/nvdebugctl.md
/// @param code what went wrong, as `usage` or `unsupported`
[[nodiscard]] std::string error_json(std::string_view program, std::string_view version,
                                     std::string_view code, std::string_view sentence);

} // namespace nvdebug::cli
