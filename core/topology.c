// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/slab.h>

#include "core/topology.h"

void nvdebug_topology_free(struct nvdebug_topology *topology)
{
	kfree(topology->engine);
	kfree(topology->runlist);
	topology->engine = NULL;
	topology->engines = 0;
	topology->runlist = NULL;
	topology->runlists = 0;
}

/* An unreadable table counts more than any number of single gaps. */
#define GAPS_OF_A_TABLE		0x10000

u32 nvdebug_topology_gaps(const struct nvdebug_topology *topology)
{
	u32 i, gaps = topology->nameless_runlists;

	if (!topology->runlists)
		return GAPS_OF_A_TABLE;
	if (topology->counted_runlists)
		gaps += topology->runlists;
	for (i = 0; i < topology->runlists; i++)
		gaps += !topology->runlist[i].pbdmas;
	return gaps;
}
