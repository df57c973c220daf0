/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The clock stands still, except while a thread sleeps. */
#ifndef SHIM_LINUX_KTIME_H
#define SHIM_LINUX_KTIME_H

#include <linux/types.h>
#include <shim.h>

typedef s64 ktime_t;

static inline ktime_t ktime_get(void)
{
	return shim.now_ns;
}

static inline ktime_t ktime_add_ms(ktime_t time, u64 ms)
{
	return time + ms * 1000000;
}

static inline bool ktime_after(ktime_t a, ktime_t b)
{
	return a > b;
}

#endif
