// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GH100: runlists as on GA102. Of their register blocks only PREEMPT and the
 * channel RAM are public. The rest, and the entries, are as on Ampere (checked
 * on an H100), except for the length of addresses: physical addresses have 52
 * bits, as in the chip's page tables and in GB10B's registers.
 */
#include <linux/bitfield.h>

#include "chips/chips.h"
#include "core/machine.h"
#include "decode/bar.h"
#include "decode/channel.h"
#include "decode/context.h"
#include "decode/copy.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "decode/timeslice.h"
#include "hw/bar.h"
#include "hw/ce.h"
#include "hw/cwd.h"
#include "hw/modes.h"
#include "hw/pbus.h"
#include "hw/ram.h"
#include "hw/runlist.h"
#include "hw/usermode.h"

bool nvdebug_channel_doorbell_gh100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value)
{
	*reg = NV_VIRTUAL_FUNCTION_DOORBELL;
	*value = FIELD_PREP(NV_VIRTUAL_FUNCTION_DOORBELL_VECTOR, id) |
		 FIELD_PREP(NV_VIRTUAL_FUNCTION_DOORBELL_RUNLIST_ID,
			    runlist->id);
	return true;
}

static const struct nvdebug_cwd_ops cwd_gh100 = {
	.gpc_tpc_id = NV_PGRAPH_PRI_CWD_GPC_TPC_ID_GH100(0),
	.sm_id = NV_PGRAPH_PRI_CWD_SM_ID_GH100(0),
	.gpc_tpc_words = NV_PGRAPH_PRI_CWD_GPC_TPC_ID__SIZE_1_GH100,
	.sm_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GH100,
	.sms_per_tpc = 2,
	.has_partitions = true,
	.fitted = true,
};

static const struct nvdebug_mmu_ops mmu_ops_gh100 = {
	.newest = &nvdebug_mmu_gh100,
};

static const struct nvdebug_window window_gh100 = {
	.reg = NV_XAL_EP_BAR0_WINDOW,
	.base = NV_XAL_EP_BAR0_WINDOW_BASE_GH100,
};

static int read_block_gh100(struct nvdebug_gpu *gpu, int bar,
			    struct nvdebug_bar_block *block)
{
	u32 low_reg = bar == 1 ? NV_VF_FUNC_BAR1_BLOCK_LOW :
				 NV_VF_FUNC_BAR2_BLOCK_LOW;
	u32 high_reg = bar == 1 ? NV_VF_FUNC_BAR1_BLOCK_HIGH :
				  NV_VF_FUNC_BAR2_BLOCK_HIGH;
	u32 low, high;
	int ret;

	ret = nvdebug_reg_read(gpu, high_reg, &high);
	if (!ret)
		ret = nvdebug_reg_read_address(gpu, low_reg, ~0u, &low);
	if (!ret)
		nvdebug_bar_block_gh100(low, high, block);
	return ret;
}

const struct nvdebug_bar_ops nvdebug_bars_gh100 = {
	.block = read_block_gh100,
};

const struct nvdebug_mode_ops nvdebug_mig_gh100 = {
	.bit = {
		{ NV_SMCARB_SYS_PIPE_INFO, NV_SMCARB_SYS_PIPE_INFO_MODE },
	},
};

static const struct nvdebug_mode_ops cc_gh100 = {
	.bit = {
		{ NV_PGC6_AON_SECURE_SCRATCH_GROUP_20_CC, NV_CC_MODE_ENABLED },
	},
};

/*
 * INTR_ID does not exist: ids of virtual functions are in its place (GB10B;
 * also H100).
 */
const struct nvdebug_runlist_block nvdebug_runlist_block_gh100 = {
	.channel_config = NV_RUNLIST_CHANNEL_CONFIG,
	.doorbell_config = NV_RUNLIST_DOORBELL_CONFIG,
	.pbdma_config = NV_RUNLIST_PBDMA_CONFIG,
	.engine_status0 = NV_RUNLIST_ENGINE_STATUS0,
	.engine_status_channel = NV_RUNLIST_ENGINE_STATUS_CHANNEL,
	.engine_status_debug = NV_RUNLIST_ENGINE_STATUS_DEBUG,
	.engines = NV_RUNLIST_ENGINE_STATUS__SIZE_1,
};

static const struct nvdebug_runlist_ops runlist_gh100 = {
	.entry_words = NV_RAMRL16_WORDS,
	.decode = nvdebug_entry16_decode,
	.skip = nvdebug_entry16_skip,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = nvdebug_runlist_registers_ga100,
	.length_offset = NV_RUNLIST_SUBMIT - NV_RUNLIST_SUBMIT_BASE_LO,
	.ptr_lo = NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102,
	.ptr_hi = NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI_GB10B,
	.block = &nvdebug_runlist_block_gh100,
	.channels = NV_RUNLIST_CHANNELS,
	.location = nvdebug_runlist_location_read_tu102,
	.prepare = nvdebug_runlist_prepare_ga100,
};

const struct nvdebug_submit_ops nvdebug_submit_gh100 = {
	.port = nvdebug_runlist_registers_ga100,
	.encode = nvdebug_submit_words_tu102,
	.ptr = GENMASK_ULL(51, 10),
};

const struct nvdebug_channel_ops nvdebug_channel_gh100 = {
	.form = NVDEBUG_CHANNEL_CHRAM,
	.per_runlist = true,
	.reg = nvdebug_channel_reg_ga100,
	.enable_word = nvdebug_chram_enable_word,
	.is_enabled = nvdebug_chram_is_enabled,
	.doorbell = nvdebug_channel_doorbell_gh100,
	.instance_in_entry = true,
	.locate_instance = nvdebug_locate_instance_ga100,
};

static const struct nvdebug_copy_ops copy_gh100 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GA100,
	.pces = NV_CE_PCE2LCE_CONFIG__SIZE_1_GH100,
	.grces = NV_CE_GRCE_CONFIG__SIZE_1_GH100,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GA100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GA100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_tu102,
};

static const struct nvdebug_chip_model models[] = {
	{ 0x180, "GH100" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gh100 = {
	.generation = "Hopper",
	.models = models,
	.ptop = &nvdebug_ptop_ga100,
	.runlist = &runlist_gh100,
	.channel = &nvdebug_channel_gh100,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_gh100,
	.context = &nvdebug_context_gh100,
	.copy = &copy_gh100,
	.submit = &nvdebug_submit_gh100,
	.preempt = &nvdebug_preempt_ga100,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_ga102,
	.cwd = &cwd_gh100,
	.memory = &nvdebug_memory_gk104,
	.window = &window_gh100,
	.bars = &nvdebug_bars_gh100,
	.mmu = &mmu_ops_gh100,
	.page_tables = "3",
	.mig = &nvdebug_mig_gh100,
	.cc = &cc_gh100,
};
