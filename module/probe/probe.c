// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "copy_topology.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/runlist.h"
#include "core/topology.h"
#include "decode/chip_id.h"
#include "decode/register.h"
#include "hw/pmc.h"
#include "probe/probe.h"
#include "state/instances.h"
#include "state/runlist.h"
#include "views/gpc_topology.h"

/* Read an optional register. Returns 0 if it does not answer. */
static u32 reg_read_or_zero(struct nvdebug_gpu *gpu, u32 offset)
{
	u32 value;

	return nvdebug_reg_read(gpu, offset, &value) ? 0 : value;
}

int nvdebug_probe_chip(struct nvdebug_gpu *gpu)
{
	u32 boot0 = 0;
	int ret;

	nvdebug_reg_expect(gpu, NV_PMC_BOOT_0);
	nvdebug_reg_expect(gpu, NV_PMC_BOOT_42);
	nvdebug_reg_expect(gpu, NV_PMC_BOOT_1);
	/* Accept any value, so that it can be printed. */
	ret = nvdebug_reg_read_address(gpu, NV_PMC_BOOT_0, U32_MAX, &boot0);
	if (!ret)
		ret = nvdebug_reg_value_check(boot0);
	if (ret) {
		nvdebug_warn_ratelimit(gpu,
				       "BOOT_0 reads 0x%08x (%s): left alone\n",
				       boot0, ret == -ENODEV ?
					      "off the bus or not decoding" :
					      "register bus error");
		return ret;
	}

	gpu->unsupported = NULL;
	ret = nvdebug_chip_id_decode(boot0,
				     reg_read_or_zero(gpu, NV_PMC_BOOT_42),
				     &gpu->id);
	if (ret) {
		gpu->unsupported = "BOOT_0 and BOOT_42 disagree";
	} else {
		gpu->chip = nvdebug_chip_find(gpu->id.chip, &gpu->chip_name);
		if (!gpu->chip)
			gpu->unsupported = "unknown chip";
	}
	if (gpu->chip)
		gpu->generation = gpu->chip->generation;

	if (nvdebug_boot1_is_virtual(reg_read_or_zero(gpu, NV_PMC_BOOT_1)))
		gpu->unsupported = "virtual function";

	if (gpu->unsupported)
		gpu->chip = NULL;
	return 0;
}

int nvdebug_probe_features(struct nvdebug_gpu *gpu)
{
	struct nvdebug_topology *topology = &gpu->topology;
	const struct nvdebug_channel_ops *channel;
	const char *why = gpu->unsupported;
	u32 i;
	int ret;

	for (i = 0; i < NVDEBUG_FEATURES; i++)
		gpu->missing[i] = gpu->chip ? gpu->chip->missing[i] : why;
	if (!gpu->chip)
		return 0;

	channel = gpu->chip->channel;
	topology->channels = gpu->chip->channels;
	if (channel->count_reg) {
		u32 count = reg_read_or_zero(gpu, channel->count_reg);

		/* A number above the chip's maximum is impossible. */
		if (count && count <= gpu->chip->channels)
			topology->channels = count;
		else
			gpu->gaps++;
	}

	ret = gpu->chip->ptop->read(gpu, &why);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		nvdebug_warn_ratelimit(gpu, "no device_info or runlists: %s\n", why);
		gpu->missing[NVDEBUG_FEATURE_DEVICE_INFO] = why;
		gpu->missing[NVDEBUG_FEATURE_RUNLIST] = why;
	} else if (!topology->runlists) {
		why = "no runlist in the device table";
		gpu->missing[NVDEBUG_FEATURE_RUNLIST] = why;
	}
	/* Global ids need no runlist. */
	if (channel->per_runlist)
		gpu->missing[NVDEBUG_FEATURE_CHANNEL_CONTROL] =
			gpu->missing[NVDEBUG_FEATURE_RUNLIST];

	gpu->missing[NVDEBUG_FEATURE_ENGINES] =
		gpu->missing[NVDEBUG_FEATURE_RUNLIST];
	gpu->missing[NVDEBUG_FEATURE_RUNLIST_CONTROL] =
		gpu->missing[NVDEBUG_FEATURE_RUNLIST];
	nvdebug_instances_survey(gpu);

	gpu->gaps += nvdebug_topology_gaps(topology);
	nvdebug_copy_topology_survey(gpu);
	nvdebug_geometry_survey(gpu);
	if (gpu->chip->runlist->block)
		for (i = 0; i < topology->runlists; i++)
			nvdebug_reg_expect(gpu, topology->runlist[i].base +
					   gpu->chip->runlist->block->channel_config);
	for (i = 0; i < topology->runlists; i++)
		if (nvdebug_runlist_prepare(gpu, &topology->runlist[i]))
			nvdebug_warn_ratelimit(gpu,
					       "runlist %u does not answer yet\n",
					       topology->runlist[i].id);
	return 0;
}

void nvdebug_probe_reset(struct nvdebug_gpu *gpu, const char *why)
{
	int i;

	nvdebug_topology_free(&gpu->topology);
	memset(&gpu->topology, 0, sizeof(gpu->topology));
	memset(&gpu->geometry, 0, sizeof(gpu->geometry));
	gpu->pce_map = 0;
	gpu->video_memory = 0;
	gpu->gaps = 0;
	gpu->chip = NULL;
	gpu->unsupported = why;
	for (i = 0; i < NVDEBUG_FEATURES; i++)
		gpu->missing[i] = why;
}
