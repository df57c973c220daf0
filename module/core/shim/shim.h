/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a program that has the core in it decides in the kernel's place, and
 * may ask.
 */
#ifndef SHIM_H
#define SHIM_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shim {
	bool killed;	/* a fatal signal is pending */
	int lacks;	/* the one capability that the caller has not; 0: none */
	bool locked_down;

	bool irqs_off;	/* interrupts are off */

	u64 now_ns;	/* the clock */
	/* Called after a sleep has moved the clock; or NULL. */
	void (*slept)(u64 ns);

	u64 asked;	/* for memory: so often */
	u64 refuse;	/* the one of these that gets none, from 1; 0: none */
	u64 in_use;	/* pieces of memory that were not given back */
};

extern struct shim shim;

void shim_sleep(u64 ns);

#ifdef __cplusplus
}
#endif

#endif
