// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The rules by which nvtaskset and the library that CUDA loads read environment variables.
#pragma once

#include <cstdlib>
#include <strings.h>

namespace nvtaskset {

/// Returns the value of a variable, or nullptr if it is unset or empty, which means the same.
inline const char *variable(const char *name) {
    const char *const value = std::getenv(name);
    return value && *value ? value : nullptr;
}

/// Returns true if a variable is set to anything but `0`, `no`, `false` and `off`, in any case.
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
