/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include_next <linux/string.h>
#include <string.h>

/* The first byte that is not @c, or NULL. */
static inline void *memchr_inv(const void *start, int c, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)start;

	for (; bytes; at++, bytes--)
		if (*at != (unsigned char)c)
			return (void *)at;
	return NULL;
}

#endif
