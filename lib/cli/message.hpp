// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Prints sentences for the user, and errors as JSON for programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nvdebug::cli {

/// Returns the width of lines for @p descriptor in columns: the number in COLUMNS, or else the
/// width of the terminal, or else 80.
[[nodiscard]] std::size_t columns_of(int descriptor);

/// Returns columns_of() if @p descriptor is a terminal; empty: it is none, and lines may have any
/// length.
[[nodiscard]] std::optional<std::size_t> terminal_width(int descriptor);

/// Returns the sentence with a newline. For a terminal, it is broken at blanks. Elsewhere it stays
/// one line, so that each line of a log is a sentence.
[[nodiscard]] std::string paragraph(std::string_view sentence, int descriptor);

/// Returns `PROGRAM: SENTENCE` as a paragraph() for stderr, with unprintable characters replaced.
[[nodiscard]] std::string message(std::string_view program, std::string_view sentence);

/// Prints message() on stderr.
void say(std::string_view program, std::string_view sentence);

/// Writes all of @p text to stdout. Returns 0, or the errno.
[[nodiscard]] int write_out(std::string_view text);

/// The schema version of errors, which is also that of nvdebugctl's documents.
inline constexpr const char *schema_version = "1.6";

/// Returns an error as a line of JSON, in the form of nvdebugctl (docs/nvdebugctl.md).
/// @param code the kind of error, such as `usage` or `unsupported`
[[nodiscard]] std::string error_json(std::string_view program, std::string_view version,
                                     std::string_view code, std::string_view sentence);

} // namespace nvdebug::cli
