/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_BITMAP_H
#define SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/slab.h>
#include <string.h>

#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]

static inline unsigned long *bitmap_zalloc(unsigned int bits, gfp_t flags)
{
	return (unsigned long *)kcalloc(BITS_TO_LONGS(bits), sizeof(long),
					flags);
}

static inline void bitmap_free(const unsigned long *map)
{
	kfree(map);
}

static inline void bitmap_zero(unsigned long *map, unsigned int bits)
{
	memset(map, 0, BITS_TO_LONGS(bits) * sizeof(long));
}

#endif
