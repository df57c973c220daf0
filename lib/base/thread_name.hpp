// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Names of threads, by which `top -H` and /proc/PID/task tell them apart.
#pragma once

#include <string>
#include <sys/prctl.h>

namespace nvdebug::base {

/// Names the calling thread. Linux keeps the first 15 bytes.
inline void name_thread(const std::string &name) {
    ::prctl(PR_SET_NAME, name.c_str());
}

} // namespace nvdebug::base
