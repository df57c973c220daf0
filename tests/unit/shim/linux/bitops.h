/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <linux/bits.h>

#define __ffs64(word)	((unsigned long)__builtin_ctzll(word))

#endif
