// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file For the library that CUDA loads, and its objects alone: functions that C library 2.34
/// moved, by the version that they have in older ones, too.
#pragma once

#if defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif
