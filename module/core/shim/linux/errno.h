/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The C library's <errno.h> includes this name, too, so this header also has
 * the numbers that it expects.
 */
#ifndef SHIM_LINUX_ERRNO_H
#define SHIM_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
