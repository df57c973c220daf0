/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What engines a GPU has and which runlists they hang on. Read once, when the
 * GPU is probed: it does not change while the GPU has power.
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
	u32 nameless_runlists;	/* left out, since they did not tell their id */
	bool counted_runlists;	/* none told its id: ids are the table's order */
};

/* How much of it did not answer. */
u32 nvdebug_topology_gaps(const struct nvdebug_topology *topology);
void nvdebug_topology_free(struct nvdebug_topology *topology);

#endif
