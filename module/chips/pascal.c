// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GP102 to GP108: Kepler's host scheduler, logical copy engines.
 */
#include "chips/chips.h"
#include "decode/context.h"
#include "decode/copy.h"
#include "decode/geometry.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "hw/ce.h"
#include "hw/cwd.h"
#include "hw/pfb.h"

const struct nvdebug_video_memory_ops nvdebug_video_memory_ops_gp102 = {
	.reg = NV_PFB_PRI_MMU_LOCAL_MEMORY_RANGE_GP102,
	.bytes = nvdebug_video_memory_gp102,
};

const struct nvdebug_cwd_ops nvdebug_cwd_gp100 = {
	.gpc_tpc_id = NV_PGRAPH_PRI_CWD_GPC_TPC_ID(0),
	.sm_id = NV_PGRAPH_PRI_CWD_SM_ID(0),
	.gpc_tpc_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1,
	.sm_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1,
	.sms_per_tpc = 1,
};

static const struct nvdebug_mmu_ops mmu_ops_gp100 = {
	.newest = &nvdebug_mmu_gp100,
	.newest_128k = &nvdebug_mmu_gp100_128k,
	.version1_64k = &nvdebug_mmu_gk104_64k,
	.version1_128k = &nvdebug_mmu_gk104_128k,
};

const struct nvdebug_copy_ops nvdebug_copy_gp102 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GP100,
	.pces = 32 / NV_CE_PCE2LCE_CONFIG0_GP100_BITS,
	.grces = 2,
	.pce_reg = NV_CE_PCE2LCE_CONFIG0_GP100,
	.grce_reg = NV_CE_GRCE_CONFIG_GP100,
	.pce_lce = nvdebug_pce_lce_gp100,
	.grce_lce = nvdebug_grce_lce_gp100,
};

static const struct nvdebug_chip_model models[] = {
	{ 0x132, "GP102" },
	{ 0x134, "GP104" },
	{ 0x136, "GP106" },
	{ 0x137, "GP107" },
	{ 0x138, "GP108" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gp102 = {
	.generation = "Pascal",
	.models = models,
	.ptop = &nvdebug_ptop_gm200,
	.runlist = &nvdebug_runlist_gk104,
	.channel = &nvdebug_channel_gk104,
	.status = &nvdebug_status_gk104,
	.instance = &nvdebug_instance_gp100,
	.context = &nvdebug_context_gp100,
	.copy = &nvdebug_copy_gp102,
	.submit = &nvdebug_submit_gk104,
	.preempt = &nvdebug_preempt_gk104,
	.geometry = &nvdebug_geometry_gm200,
	.video_memory = &nvdebug_video_memory_ops_gp102,
	.cwd = &nvdebug_cwd_gp100,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_gk104,
	.mmu = &mmu_ops_gp100,
	.channels = 4096,	/* linux-nvgpu hw_ccsr_gp106.h */
	.page_tables = "1 or 2",
};
