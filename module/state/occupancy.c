// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>

#include "core/gpu.h"
#include "decode/occupied.h"
#include "state/engine_status.h"
#include "state/occupancy.h"

static bool engine_is_on_runlist(const struct nvdebug_engine *engine,
				 const struct nvdebug_runlist *runlist)
{
	return engine->has & NVDEBUG_ENGINE_HAS_RUNLIST &&
	       engine->runlist == runlist->id;
}

int nvdebug_runlist_occupied(struct nvdebug_gpu *gpu,
			     const struct nvdebug_runlist *runlist,
			     nvdebug_match_fn match, const void *data)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	struct nvdebug_engine_status engine;
	struct nvdebug_ctx_status pbdma;
	u32 i;
	int ret;

	for (i = 0; i < runlist->pbdmas; i++) {
		ret = nvdebug_pbdma_status_read(gpu, runlist, i, &pbdma);
		if (ret)
			return ret;
		if (nvdebug_pbdma_is_occupied(&pbdma, match, data))
			return 1;
	}
	for (i = 0; i < topology->engines; i++) {
		if (!engine_is_on_runlist(&topology->engine[i], runlist))
			continue;
		ret = nvdebug_engine_status_read(gpu, &topology->engine[i],
						 &engine);
		/*
		 * The engine has no public status register: PBDMAs must
		 * suffice.
		 */
		if (ret == -EOPNOTSUPP)
			continue;
		if (ret)
			return ret;
		if (nvdebug_engine_is_occupied(&engine.ctx, match, data))
			return 1;
	}
	return 0;
}
