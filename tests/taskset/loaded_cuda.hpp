// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file CUDA as a program loads it.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

/// Calls functions of libcuda by their names. The process ends if there is no such library or
/// function.
struct Cuda {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    Cuda() {
        if (!library) {
            std::fprintf(stderr, "program: no libcuda.so.1\n");
            std::exit(1);
        }
    }
    template <typename... Arguments>
    int operator()(const char *name, Arguments... arguments) const {
        void *const function = dlsym(library, name);
        if (!function) {
            std::fprintf(stderr, "program: no %s\n", name);
            std::exit(1);
        }
        return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
    }
};
