/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include_next <linux/kernel.h>
#include <assert.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define U32_MAX		(~(u32)0)
#define U64_MAX		(~(u64)0)

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define round_down(x, y)	((x) & ~((__typeof__(x))(y) - 1))

#define BUILD_BUG_ON(condition)	static_assert(!(condition), #condition)

/* The type of the pointer is not checked. */
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* There is one thread, so an access is a plain one. */
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

/*
 * Returns how much was written, not how much the whole text would need. Callers
 * print little text.
 */
static inline int vscnprintf(char *buf, size_t size, const char *fmt,
			     va_list args)
{
	size_t n = vsnprintf(buf, size, fmt, args);

	return n < size ? n : size - 1;
}

/* C++ has functions of its own with these names. */
#ifndef __cplusplus
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define min(a, b)		min_t(__typeof__((a) + (b)), a, b)
#define max(a, b)		max_t(__typeof__((a) + (b)), a, b)
#define swap(a, b) \
	do { __typeof__(a) swapped = (a); (a) = (b); (b) = swapped; } while (0)
#endif

#endif
