/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* glibc's <errno.h> includes this name too: be what it expects. */
#ifndef SHIM_LINUX_ERRNO_H
#define SHIM_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
