/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_JHASH_H
#define SHIM_LINUX_JHASH_H

#include <linux/types.h>

/* This hash is FNV-1a, and not the kernel's. */
static inline u32 jhash(const void *key, u32 length, u32 initval)
{
	const u8 *byte = (const u8 *)key;
	u32 hash = initval ^ 0x811c9dc5;

	while (length--)
		hash = (hash ^ *byte++) * 0x01000193;
	return hash;
}

#endif
