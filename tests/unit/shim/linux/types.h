/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The shim: just enough of <linux/...> for the files of decode/ to compile
 * in user space, as C or as part of a C++ test. Where the system has a header
 * of the same name, others may be asking for that one: pass it on.
 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
/* not __u64: so that %lu and uint64_t mean it on every 64-bit target */
typedef unsigned long u64;

#endif
