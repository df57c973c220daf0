// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Environment variables, read with one rule by nvtaskset and by the library that CUDA loads.
#pragma once

#include <cstdlib>
#include <strings.h>

namespace nvtaskset {

/// The value of a variable; nullptr: it is unset or empty, which is the same.
inline const char *variable(const char *name) {
    const char *const value = std::getenv(name);
    return value && *value ? value : nullptr;
}

/// Is a variable set to anything but `0`, `no`, `false` and `off`, in capitals or not?
inline bool is_on(const char *name) {
    const char *const value = variable(name);
    if (!value)
        return false;
    for (const char *const no : {"0", "no", "false", "off"})
        if (strcasecmp(value, no) == 0)
            return false;
    return true;
}

} // namespace nvtaskset
