// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GM107 and GM108, and GM200 to GM206: Kepler's host scheduler. From GM200 on
 * PFIFO has the number of PBDMAs; for the older chips Kepler's number is assumed.
 *
 * Numbers of channels: nouveau drm/nouveau/nvkm/engine/fifo/{gm107,gm200}.c.
 */
#include "chips/chips.h"
#include "decode/context.h"
#include "decode/instance.h"
#include "hw/cwd.h"
#include "hw/fuse.h"

static const struct nvdebug_geometry_ops geometry_gm107 = {
	.gpc_reg = { NV_FUSE_STATUS_OPT_GPC_GM107 },
	.tpc_reg = { NV_FUSE_STATUS_OPT_TPC_GPC_GM107 },
};

const struct nvdebug_geometry_ops nvdebug_geometry_gm200 = {
	.gpc_reg = { NV_FUSE_STATUS_OPT_GPC_GM107 },
	.tpc_reg = { NV_FUSE_STATUS_OPT_TPC_GPC_GM107 },
	.has_ltcs = true,
};

static const struct nvdebug_cwd_ops cwd_gm200 = {
	.gpc_tpc_id = NV_PGRAPH_PRI_CWD_GPC_TPC_ID(0),
	.sm_id = NV_PGRAPH_PRI_CWD_SM_ID(0),
	.gpc_tpc_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GM200,
	.sm_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GM200,
	.sms_per_tpc = 1,
};

static const struct nvdebug_chip_model models_gm107[] = {
	{ 0x117, "GM107" },
	{ 0x118, "GM108" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gm107 = {
	.generation = "Maxwell",
	.models = models_gm107,
	.missing = {
		[NVDEBUG_FEATURE_WORK_DISTRIBUTOR] =
			"no register before GM200 is public for where SMs are",
		[NVDEBUG_FEATURE_COPY_TOPOLOGY] =
			"copy engines are physical: nothing to map",
	},
	.ptop = &nvdebug_ptop_gk104,
	.runlist = &nvdebug_runlist_gk104,
	.channel = &nvdebug_channel_gk104,
	.status = &nvdebug_status_gk104,
	.instance = &nvdebug_instance_gk104,
	.context = &nvdebug_context_gk104,
	.submit = &nvdebug_submit_gk104,
	.preempt = &nvdebug_preempt_gk104,
	.geometry = &geometry_gm107,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_gk104,
	.mmu = &nvdebug_mmu_ops_gk104,
	.channels = 2048,
	.page_tables = "1",
};

static const struct nvdebug_chip_model models_gm200[] = {
	{ 0x120, "GM200" },
	{ 0x124, "GM204" },
	{ 0x126, "GM206" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gm200 = {
	.generation = "Maxwell",
	.models = models_gm200,
	.missing = {
		[NVDEBUG_FEATURE_COPY_TOPOLOGY] =
			"copy engines are physical: nothing to map",
	},
	.ptop = &nvdebug_ptop_gm200,
	.runlist = &nvdebug_runlist_gk104,
	.channel = &nvdebug_channel_gk104,
	.status = &nvdebug_status_gk104,
	.instance = &nvdebug_instance_gm200,
	.context = &nvdebug_context_gk104,
	.submit = &nvdebug_submit_gk104,
	.preempt = &nvdebug_preempt_gk104,
	.geometry = &nvdebug_geometry_gm200,
	.cwd = &cwd_gm200,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_gk104,
	.mmu = &nvdebug_mmu_ops_gk104,
	.channels = 4096,
	.page_tables = "1",
};
