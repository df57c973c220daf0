// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <iostream>

namespace nvdebug::base {

/// Flushes stdio and std::cout. Called after the last output of a program.
/// @returns 0, or the errno if standard output did not take all of the output
inline int finish_standard_output() {
    errno = 0;
    const bool failed = std::fflush(stdout) || std::ferror(stdout) || !std::cout.flush();
    return failed ? errno ? errno : EIO : 0;
}

} // namespace nvdebug::base
