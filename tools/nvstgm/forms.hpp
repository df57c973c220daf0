// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What a command prints: JSON, CSV, and tables for people. */
#ifndef NVSTGM_FORMS_HPP
#define NVSTGM_FORMS_HPP

#include "command.hpp"

namespace nvstgm {

/** All of it, or a sentence. */
Outcome<void> write(const std::string &text);
/** … into a file; `-`: stdout. */
Outcome<void> write_file(const std::string &path, const std::string &text);

/** One line. @p schema as `check` */
std::string document(const std::string &schema, Json data);

struct Column {
    std::string key;   ///< of a row, as /blocking/copy where it is deeper; of CSV
    std::string title; ///< of the table
    bool left = false; ///< words
};

/** Numbers and words; what is null is `-`, or empty in CSV. */
std::string table(const std::vector<Column> &columns, const Json &rows);
std::string csv(const std::vector<Column> &columns, const Json &rows);

/** Text of a file for a terminal: no control characters. */
std::string printable(const std::string &text);

} // namespace nvstgm

#endif
