// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * AD102 to AD107. No manual is public. For everything that this module uses,
 * NVIDIA's driver takes GA102's functions (open-gpu-kernel-modules
 * src/nvidia/generated/g_kernel_{fifo,ce}_nvoc.c).
 */
#include "chips/chips.h"
#include "decode/context.h"
#include "decode/instance.h"

static const struct nvdebug_chip_model models[] = {
	{ 0x192, "AD102" },
	{ 0x193, "AD103" },
	{ 0x194, "AD104" },
	{ 0x196, "AD106" },
	{ 0x197, "AD107" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_ad102 = {
	.generation = "Ada",
	.models = models,
	.missing = {
		[NVDEBUG_FEATURE_WORK_DISTRIBUTOR] =
			"where its tables are with more than 64 TPCs is not public",
	},
	.ptop = &nvdebug_ptop_ga100,
	.runlist = &nvdebug_runlist_ga102,
	.channel = &nvdebug_channel_ga100,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_ga100,
	.context = &nvdebug_context_gv100,
	.copy = &nvdebug_copy_ga102,
	.submit = &nvdebug_submit_ga102,
	.preempt = &nvdebug_preempt_ga100,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_ga102,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_tu102,
	.mmu = &nvdebug_mmu_ops_ga100,
	.page_tables = "2",
};
