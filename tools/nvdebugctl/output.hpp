// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file stdout, whose errors are not ignored. */
#ifndef NVDEBUGCTL_OUTPUT_HPP
#define NVDEBUGCTL_OUTPUT_HPP

#include <string>
#include <string_view>

#include "failure.hpp"

namespace nvdebugctl {

/** A sentence for the user, on stderr. */
void say(const std::string &sentence);

class Output {
  public:
    /** Writes and flushes: a reader of a pipe sees it now. */
    Outcome<void> write(std::string_view text);
    /** Nobody reads any more (EPIPE): no reason for a message. */
    bool is_broken_pipe() const { return broken_pipe_; }
    static bool is_terminal();

  private:
    bool broken_pipe_ = false;
};

} // namespace nvdebugctl

#endif
