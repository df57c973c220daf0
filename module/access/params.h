/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The module parameters, read-only after load.
 */
#ifndef NVDEBUG_PARAMS_H
#define NVDEBUG_PARAMS_H

#include <linux/types.h>

/* Rules for moving the PRAMIN window. */
enum nvdebug_pram_window {
	NVDEBUG_WINDOW_AUTO,	/* moved while no driver is bound */
	NVDEBUG_WINDOW_NEVER,
};

struct nvdebug_params {
	enum nvdebug_pram_window pram_window;
	unsigned int burst_us;	/* time with interrupts off */
	bool read_only;
	bool state_all;
	int state_uid;		/* -1: root */
	int state_gid;		/* -1: none */
};

extern struct nvdebug_params nvdebug_params;

/* Check the parameters at load. Returns -EINVAL with a line in the log. */
int nvdebug_params_check(void);

#endif
