// SPDX-License-Identifier: MIT OR GPL-2.0
#include "core/gpu.h"
#include "core/topology.h"

void nvdebug_gpu_init(struct nvdebug_gpu *gpu)
{
	mutex_init(&gpu->lock);
	INIT_LIST_HEAD(&gpu->overrides);
	mutex_init(&gpu->leases_end_lock);
	mutex_init(&gpu->leases_lock);
	INIT_LIST_HEAD(&gpu->leases);
}

void nvdebug_gpu_destroy(struct nvdebug_gpu *gpu)
{
	nvdebug_topology_free(&gpu->topology);
	mutex_destroy(&gpu->leases_lock);
	mutex_destroy(&gpu->leases_end_lock);
	mutex_destroy(&gpu->lock);
}
