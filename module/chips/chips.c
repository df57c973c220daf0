// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>

#include "chips/chips.h"

static const struct nvdebug_chip * const chips[] = {
	&nvdebug_chip_gk104,
	&nvdebug_chip_gk208,
	&nvdebug_chip_gm107,
	&nvdebug_chip_gm200,
	&nvdebug_chip_gp102,
	&nvdebug_chip_gv100,
	&nvdebug_chip_tu102,
	&nvdebug_chip_ga100,
	&nvdebug_chip_ga102,
	&nvdebug_chip_ad102,
	&nvdebug_chip_gh100,
	&nvdebug_chip_gb100,
	&nvdebug_chip_gb102,
	&nvdebug_chip_gb202,
	&nvdebug_chip_gp10b,
	&nvdebug_chip_gv11b,
	&nvdebug_chip_ga10b,
};

const struct nvdebug_chip *nvdebug_chip_find(u16 id, const char **name)
{
	const struct nvdebug_chip_model *model;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(chips); i++) {
		for (model = chips[i]->models; model->name; model++) {
			if (model->id != id)
				continue;
			*name = model->name;
			return chips[i];
		}
	}
	return NULL;
}

enum nvdebug_place nvdebug_mem_place(const struct nvdebug_gpu *gpu, u8 aperture)
{
	const struct nvdebug_memory_ops *ops = gpu->chip->memory;

	return aperture < ARRAY_SIZE(ops->place) ? ops->place[aperture] :
						   NVDEBUG_PLACE_NONE;
}

bool nvdebug_mem_needs_lock(const struct nvdebug_gpu *gpu, u8 aperture)
{
	return nvdebug_mem_place(gpu, aperture) == NVDEBUG_PLACE_SYSTEM;
}
