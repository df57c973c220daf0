// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <iostream>

namespace nvdebug::base {

/// After the last output of a program that prints through stdio or std::cout.
/// @returns the errno of what could not be written to standard output; 0: all of it was.
inline int finish_standard_output() {
    errno = 0;
    const bool failed = std::fflush(stdout) || std::ferror(stdout) || !std::cout.flush();
    return failed ? errno ? errno : EIO : 0;
}

} // namespace nvdebug::base
