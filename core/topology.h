/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Engines and runlists of a GPU. Read once, when the GPU is probed: constant
 * while the GPU has power.
 */
#ifndef NVDEBUG_CORE_TOPOLOGY_H
#define NVDEBUG_CORE_TOPOLOGY_H

#include <linux/types.h>

#include "core/runlist.h"
#include "decode/ptop.h"

struct nvdebug_topology {
	struct nvdebug_engine *engine;
	u32 engines;
	struct nvdebug_runlist *runlist;	/* by rising id */
	u32 runlists;
	u32 channels;		/* where ids are global, else 0 */
	u32 nameless_runlists;	/* dropped: id unreadable */
	bool counted_runlists;	/* no id readable: table order */
};

/* How many registers did not answer. */
u32 nvdebug_topology_gaps(const struct nvdebug_topology *topology);
void nvdebug_topology_free(struct nvdebug_topology *topology);

#endif
