// SPDX-License-Identifier: MIT OR GPL-2.0
// Turns an errno into its name, and into a sentence: what, where and what next. The reasons are in
// docs/proc.md.
#pragma once

#include <string>
#include <string_view>

#include "tree_impl.hpp"

namespace nvdebug {

/// Returns the name of an errno as captures spell it: `ENODEV`.
std::string errno_name(int number);

/// Returns the errno with this name; 0: there is none.
int errno_of_name(std::string_view name);

/// Returns @p sentence with @p command in place of `$`; empty if @p command is.
std::string advised(std::string_view sentence, const std::string &command);

/// Returns the error of a folder or capture that could not be opened.
Error cannot_open(const std::string &path, int number);

/// Returns the error of a capture that could not be written.
Error cannot_write(const std::string &path, int number);

/// Returns the error of a file of a tree that could not be read, or of a folder that could not be
/// listed.
Error cannot_read(const Tree::Impl &tree, std::string_view name, int number);

/// Returns the error of a control of a live tree that could not be opened, written or read.
Error cannot_control(const Tree::Impl &tree, std::string_view name, std::string_view text,
                     int number);

} // namespace nvdebug
