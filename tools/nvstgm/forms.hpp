// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The forms in which commands print: JSON, CSV, and tables for people.
#pragma once

#include <span>

#include "command.hpp"
#include "lib/base/printable.hpp"

namespace nvstgm {

/// Writes the whole text to stdout.
Answer<void> write(const std::string &text);
/// Writes the whole text into a file, or to stdout if the path is `-`. It replaces an existing file
/// only after all is written, and leaves it as it is if that fails.
Answer<void> write_file(const std::string &path, const std::string &text);
/// Fails if write_file() would fail, as far as that can be found out without writing.
Answer<void> can_write(const std::string &path);

/// Returns a document of JSON, in one line. @param schema the command, as `check`
std::string document(const std::string &schema, Json data, const std::string &version = "1.0");

struct Column {
    std::string key;   ///< the key in a row, a path as /blocking/copy if nested; the title in CSV
    std::string title; ///< the title in the table
    bool left = false; ///< the column is aligned to the left, for words
};

/// Returns the rows as a table, with `-` for null.
std::string table(const std::vector<Column> &columns, const Json &rows);
/// Returns the rows as CSV, with an empty field for null.
std::string csv(const std::vector<Column> &columns, const Json &rows);

/// Returns a sentence to stand below a table, broken at words if stdout is a terminal.
std::string sentence(const std::string &text);

using nvdebug::base::printable;

/// Returns ascending numbers in the form that nvtaskset takes: `0-3,8`.
std::string list_of(std::span<const std::uint32_t> numbers);

} // namespace nvstgm
