// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file stdout with checked errors, and what it can show.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "failure.hpp"

namespace nvdebugctl {

/// A sentence for the user, on stderr.
void say(const std::string &sentence);

class Output {
  public:
    /// Writes and flushes: a reader of a pipe sees it now.
    [[nodiscard]] Outcome<void> write(std::string_view text);
    /// The reader has closed its end (EPIPE): no reason for a message.
    bool is_broken_pipe() const { return broken_pipe_; }
    static bool is_terminal();

  private:
    bool broken_pipe_ = false;
};

/// The descriptor that @p path names and this process has open: `-`, `/dev/stdout`, `/dev/stderr`,
/// `/dev/fd/N`, `/proc/self/fd/N`. To open it by name would begin at the start of its file, and to
/// rename another file to it would replace what the whole machine uses.
[[nodiscard]] std::optional<int> descriptor_named(const std::string &path);

struct Terminal {
    bool unicode;                     ///< the locale's characters are UTF-8
    std::optional<std::size_t> width; ///< in columns; empty: no terminal, lines may be of any width
};

/// Of stdout and the environment.
Terminal this_terminal();

/// Whether to use colour. @param when is the value of --color
bool use_color(const std::optional<std::string> &when);

} // namespace nvdebugctl
