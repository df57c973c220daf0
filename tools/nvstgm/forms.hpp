// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The forms in which commands print: JSON, CSV, and tables for people.
#pragma once

#include <span>
#include <unistd.h>

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
/// Fails if the file of one of the options that name outputs is a file that the command reads, or
/// that of another of these options.
Answer<void> are_other_files(const Arguments &arguments, const std::vector<std::string> &options,
                             std::vector<std::string> read);
/// Fails if the file of @p option has a suffix other than @p known ones, because its content would
/// be of another form than its name says. A name without a suffix, and `-`, may have any content.
/// @param known as `FILE.json for a task set`, for the message
Answer<void> knows_suffix(const Arguments &arguments, const std::string &option,
                          const std::vector<std::string> &suffixes, const std::string &known);

/// Returns a document of JSON, in one line. @param schema the command, as `check`
std::string document(const std::string &schema, Json data, const std::string &version = "1.0");

struct Column {
    std::string key;    ///< the key in a row, a path as /blocking/copy if nested; the title in CSV
    std::string title;  ///< the title in the table
    bool left = false;  ///< the column is aligned to the left, for words
    int importance = 0; ///< a narrow terminal loses the least important column first; 0: never
};

/// Returns a table with a line for each row, in which null is `-`. If @p descriptor is a terminal,
/// its lines fit there, and a sentence below names the columns that were left out.
std::string table(const std::vector<Column> &columns, const Json &rows,
                  int descriptor = STDOUT_FILENO);
/// Returns all columns as CSV, in which null is empty.
std::string csv(const std::vector<Column> &columns, const Json &rows);

/// Returns a line below a table. If @p descriptor is a terminal, it is broken at words.
std::string sentence(const std::string &text, int descriptor = STDOUT_FILENO);

using nvdebug::base::printable;

/// Returns ascending numbers in the form that nvtaskset takes: `0-3,8`.
std::string list_of(std::span<const std::uint32_t> numbers);

} // namespace nvstgm
