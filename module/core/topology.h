/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Engines and runlists of a GPU. They are read once, when the GPU is probed,
 * since they are constant while the GPU has power.
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
	u32 runlists_without_id;	/* dropped: their ids are unreadable */
	/* No id is readable, so runlists are numbered as in the table. */
	bool numbered_by_order;
};

/* Return how many registers did not answer. */
u32 nvdebug_topology_gaps(const struct nvdebug_topology *topology);
void nvdebug_topology_free(struct nvdebug_topology *topology);

/* Return the runlist with this id. NULL: no such runlist. */
struct nvdebug_runlist *
nvdebug_runlist_find(struct nvdebug_topology *topology, u32 id);
/* Return whether @engine is on the runlist of the first graphics engine. */
bool nvdebug_engine_is_on_graphics(const struct nvdebug_topology *topology,
				   const struct nvdebug_engine *engine);
/* Return whether any graphics engine is on the runlist. */
bool nvdebug_runlist_has_graphics(const struct nvdebug_topology *topology,
				  u32 id);

#endif
