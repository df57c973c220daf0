// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Rows as a table for a person, and as CSV for programs. */
#ifndef NVDEBUGCTL_TABLE_HPP
#define NVDEBUGCTL_TABLE_HPP

#include <string>
#include <vector>

#include "document.hpp"
#include "page.hpp"

namespace nvdebugctl {

/** Columns as wide as their widest value; rows are never cut. */
void print_table(const Json &rows, const std::vector<std::string> &columns, bool header,
                 Page &page);

/** RFC 4180, but lines end in a newline alone, and what is not printable is replaced. null is
 *  empty, an array's elements have a blank between them. */
std::string to_csv(const Json &rows, const std::vector<std::string> &columns, bool header);

} // namespace nvdebugctl

#endif
