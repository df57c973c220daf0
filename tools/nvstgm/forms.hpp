// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a command prints: JSON, CSV, and tables for people.
#pragma once

#include <span>
#include <unistd.h>

#include "command.hpp"
#include "lib/base/printable.hpp"

namespace nvstgm {

/// Writes all of it to stdout, or returns why not.
Answer<void> write(const std::string &text);
/// … into a file; `-`: stdout. An existing file is replaced when all is written, else it stays as
/// it is.
Answer<void> write_file(const std::string &path, const std::string &text);
/// As far as that can be found out without writing.
Answer<void> can_write(const std::string &path);
/// Fails if the file of @p option has a suffix other than @p known ones, because its content would
/// be of another form than its name says. A name without a suffix, and `-`, may have any content.
/// @param known as `FILE.json for a task set`, for the message
Answer<void> knows_suffix(const Arguments &arguments, const std::string &option,
                          const std::vector<std::string> &suffixes, const std::string &known);

/// One line. @p schema as `check`
std::string document(const std::string &schema, Json data, const std::string &version = "1.0");

struct Column {
    std::string key;   ///< of a row, as /blocking/copy where it is deeper; of CSV
    std::string title; ///< of the table
    bool left = false; ///< words
    int importance = 0; ///< on a narrow terminal the least one is left out first; 0: it never is
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

/// Numbers in ascending order as nvtaskset takes them: `0-3,8`
std::string list_of(std::span<const std::uint32_t> numbers);

} // namespace nvstgm
