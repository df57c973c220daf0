// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Versions of functions that C library 2.34 has moved, so that the library that CUDA loads
/// works with older C libraries, too. Only sources of that library include this file.
#pragma once

#if defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
