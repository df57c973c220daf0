// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/slab.h>

#include "core/topology.h"
#include "hw/ptop.h"

void nvdebug_topology_free(struct nvdebug_topology *topology)
{
	kfree(topology->engine);
	kfree(topology->runlist);
	topology->engine = NULL;
	topology->engines = 0;
	topology->runlist = NULL;
	topology->runlists = 0;
}

/* An unreadable table counts for more than any number of single registers. */
#define GAPS_OF_A_TABLE		0x10000

u32 nvdebug_topology_gaps(const struct nvdebug_topology *topology)
{
	u32 i, gaps = topology->runlists_without_id;

	if (!topology->runlists)
		return GAPS_OF_A_TABLE;
	if (topology->numbered_by_order)
		gaps += topology->runlists;
	for (i = 0; i < topology->runlists; i++)
		gaps += !topology->runlist[i].pbdmas;
	return gaps;
}

struct nvdebug_runlist *
nvdebug_runlist_find(struct nvdebug_topology *topology, u32 id)
{
	u32 i;

	for (i = 0; i < topology->runlists; i++)
		if (topology->runlist[i].id == id)
			return &topology->runlist[i];
	return NULL;
}

bool nvdebug_engine_is_on_graphics(const struct nvdebug_topology *topology,
				   const struct nvdebug_engine *engine)
{
	u32 i;

	for (i = 0; i < topology->engines; i++) {
		const struct nvdebug_engine *gr = &topology->engine[i];

		if (gr->type == NV_PTOP_TYPE_GRAPHICS && !gr->inst)
			return gr->has & engine->has &
				       NVDEBUG_ENGINE_HAS_RUNLIST &&
			       engine->runlist == gr->runlist;
	}
	return false;
}

bool nvdebug_runlist_has_graphics(const struct nvdebug_topology *topology,
				  u32 id)
{
	u32 i;

	for (i = 0; i < topology->engines; i++) {
		const struct nvdebug_engine *engine = &topology->engine[i];

		if (engine->type == NV_PTOP_TYPE_GRAPHICS &&
		    nvdebug_engine_has(engine, NVDEBUG_ENGINE_HAS_RUNLIST) &&
		    engine->runlist == id)
			return true;
	}
	return false;
}
