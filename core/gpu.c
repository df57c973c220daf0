// SPDX-License-Identifier: MIT OR GPL-2.0
#include "core/gpu.h"
#include "core/topology.h"
#include "hw/ptop.h"

void nvdebug_gpu_init(struct nvdebug_gpu *gpu)
{
	mutex_init(&gpu->lock);
	INIT_LIST_HEAD(&gpu->overrides);
	mutex_init(&gpu->leases_lock);
	INIT_LIST_HEAD(&gpu->leases);
}

void nvdebug_gpu_destroy(struct nvdebug_gpu *gpu)
{
	nvdebug_topology_free(&gpu->topology);
	mutex_destroy(&gpu->leases_lock);
	mutex_destroy(&gpu->lock);
}

struct nvdebug_runlist *nvdebug_runlist_find(struct nvdebug_gpu *gpu, u32 id)
{
	struct nvdebug_topology *topology = &gpu->topology;
	u32 i;

	for (i = 0; i < topology->runlists; i++)
		if (topology->runlist[i].id == id)
			return &topology->runlist[i];
	return NULL;
}

bool nvdebug_engine_is_on_graphics(const struct nvdebug_gpu *gpu,
				   const struct nvdebug_engine *engine)
{
	const struct nvdebug_topology *topology = &gpu->topology;
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

bool nvdebug_runlist_has_graphics(const struct nvdebug_gpu *gpu, u32 id)
{
	const struct nvdebug_topology *topology = &gpu->topology;
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
