// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file libcuda.so.1 by its own names, loaded by a program that is built without CUDA's headers.
#pragma once

#include <dlfcn.h>

using Handle = void *;
using Address = unsigned long long;

constexpr unsigned sm_count = 16; // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT

/// Prints the failed call with CUDA's error, and ends the program. Each program defines it.
[[noreturn]] void stop(const char *what, int error);

inline Handle library() {
    static Handle const opened = dlopen("libcuda.so.1", RTLD_NOW);
    return opened ? opened : (stop("libcuda.so.1 cannot be loaded", 0), nullptr);
}

/// Calls a function of the library. Does not return if there is none or if it fails.
template <typename... Arguments>
void call(const char *name, Arguments... arguments) {
    auto *const function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library(), name));
    if (!function)
        stop(name, 0);
    if (const int error = function(arguments...))
        stop(name, error);
}
