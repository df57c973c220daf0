/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The state that the kernel has for the module: a program with the core in it
 * sets the first members in the kernel's place, and reads the last ones.
 */
#ifndef SHIM_H
#define SHIM_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shim {
	bool killed;	/* a fatal signal is pending */
	int lacks;	/* the one capability that the caller lacks; 0: none */
	bool locked_down;

	bool irqs_off;	/* interrupts are off */

	u64 now_ns;	/* the clock */
	/* Called after a sleep has moved the clock, unless it is NULL. */
	void (*slept)(u64 ns);

	u64 asked;	/* number of allocations that were asked for */
	/* The number of the allocation that is refused, from 1; 0: none. */
	u64 refuse;
	u64 in_use;	/* allocations that were not freed */
};

extern struct shim shim;

void shim_sleep(u64 ns);

#ifdef __cplusplus
}
#endif

#endif
