// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a command prints: JSON, CSV, and tables for people.
#pragma once

#include <span>

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

/// One line. @p schema as `check`
std::string document(const std::string &schema, Json data, const std::string &version = "1.0");

struct Column {
    std::string key;   ///< of a row, as /blocking/copy where it is deeper; of CSV
    std::string title; ///< of the table
    bool left = false; ///< words
};

/// Numbers and words; what is null is `-`, or empty in CSV.
std::string table(const std::vector<Column> &columns, const Json &rows);
std::string csv(const std::vector<Column> &columns, const Json &rows);

/// A sentence below a table, broken at words where stdout is a terminal.
std::string sentence(const std::string &text);

using nvdebug::base::printable;

/// Numbers in ascending order as nvtaskset takes them: `0-3,8`
std::string list_of(std::span<const std::uint32_t> numbers);

} // namespace nvstgm
