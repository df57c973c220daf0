/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <linux/bits.h>
#include <stdbool.h>

#define BITS_PER_LONG		(8 * sizeof(long))
#define BITS_TO_LONGS(bits)	(((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)

#define __ffs(word)	((unsigned long)__builtin_ctzl(word))
#define __ffs64(word)	((unsigned long)__builtin_ctzll(word))
#define hweight64(word)	((unsigned long)__builtin_popcountll(word))

static inline bool test_bit(unsigned long bit, const unsigned long *map)
{
	return map[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}

static inline void __set_bit(unsigned long bit, unsigned long *map)
{
	map[bit / BITS_PER_LONG] |= 1UL << bit % BITS_PER_LONG;
}

static inline bool __test_and_set_bit(unsigned long bit, unsigned long *map)
{
	bool was = test_bit(bit, map);

	__set_bit(bit, map);
	return was;
}

/* Tests bit by bit, which is slower than the kernel's loop. */
#define for_each_set_bit(bit, map, size) \
	for ((bit) = 0; (bit) < (size); (bit)++) \
		if (!test_bit(bit, map)) {} else

#endif
