// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Writes to stdout, checks for errors, and finds out what the terminal can show.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "failure.hpp"

namespace nvdebugctl {

/// Prints a sentence for the user on stderr.
void say(const std::string &sentence);

class Output {
  public:
    /// Writes and flushes, so that the reader of a pipe gets the text at once.
    [[nodiscard]] Outcome<void> write(std::string_view text);
    /// Returns whether the reader has closed its end (EPIPE), which needs no message.
    bool is_broken_pipe() const { return broken_pipe_; }
    static bool is_terminal();

  private:
    bool broken_pipe_ = false;
};

/// Returns the descriptor of this process that @p path names: `-`, `/dev/stdout`, `/dev/stderr`,
/// `/dev/fd/N`, `/proc/self/fd/N`. If such a path were opened by name, writing would begin at the
/// start of the file. If another file were renamed to it, the file that the whole machine uses
/// would be replaced.
[[nodiscard]] std::optional<int> descriptor_named(const std::string &path);

struct Terminal {
    bool unicode; ///< the locale's characters are UTF-8
    /// In columns; empty: stdout is no terminal, so lines may have any width.
    std::optional<std::size_t> width;
};

/// Returns what stdout and the environment show about the terminal.
Terminal this_terminal();

/// Returns whether to use colour.
/// @param when the value of --color
bool use_color(const std::optional<std::string> &when);

} // namespace nvdebugctl
