/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_DELAY_H
#define SHIM_LINUX_DELAY_H

#include <shim.h>

/* Always sleeps for the longest time. */
static inline void usleep_range(unsigned long min_us, unsigned long max_us)
{
	(void)min_us;
	shim_sleep(1000ULL * max_us);
}

#endif
