/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The module parameters, read-only after load.
 */
#ifndef NVDEBUG_PARAMS_H
#define NVDEBUG_PARAMS_H

#include <linux/types.h>

struct nvdebug_params {
	bool move_window;	/* pram_window=auto */
	bool read_only;
	bool state_all;
	int state_uid;		/* -1: root */
	int state_gid;		/* -1: none */
};

extern struct nvdebug_params nvdebug_params;

#endif
