// SPDX-License-Identifier: MIT OR GPL-2.0
// From an errno to its name, and to a sentence: what, where and what next. The reasons are those of
// docs/proc.md.
#pragma once

#include <string>
#include <string_view>

#include "tree_impl.hpp"

namespace nvdebug {

/// ENODEV and its like, as captures spell them.
std::string errno_name(int number);

/// 0: no such name.
int errno_of_name(std::string_view name);

/// @p sentence with @p command in place of `$`; empty: there is no such command.
std::string advised(std::string_view sentence, const std::string &command);

/// A folder or capture could not be opened.
Error cannot_open(const std::string &path, int number);

/// A capture could not be written.
Error cannot_write(const std::string &path, int number);

/// A file of a tree could not be read, or a folder not listed.
Error cannot_read(const Tree::Impl &tree, std::string_view name, int number);

/// A control of a live tree could not be opened, written or asked for its answer.
Error cannot_control(const Tree::Impl &tree, std::string_view name, std::string_view text,
                     int number);

} // namespace nvdebug
