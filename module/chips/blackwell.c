// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GB100 to GB112: runlists as on GA102, with longer addresses and the
 * subcontext in the entries. GB202 to GB207: the same registers in other
 * places, and another doorbell.
 *
 * Offsets and entries are those of GB10B and GB20C (the nvgpu of NVIDIA's 2025
 * Jetson kernels), which NVIDIA's driver treats as it does the others of their
 * families (open-gpu-kernel-modules src/nvidia/generated/
 * g_kernel_fifo_nvoc.c). This is inferred, so the contents of a register block
 * are checked before use.
 */
#include "chips/chips.h"
#include "decode/channel.h"
#include "decode/context.h"
#include "decode/copy.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "decode/timeslice.h"
#include "hw/ce.h"
#include "hw/cwd.h"
#include "hw/modes.h"
#include "hw/pbus.h"
#include "hw/ram.h"
#include "hw/runlist.h"
#include "hw/usermode.h"

static bool doorbell_gb202(const struct nvdebug_runlist *runlist,
			   u32 id, u32 *reg, u32 *value)
{
	nvdebug_channel_doorbell_gh100(runlist, id, reg, value);
	*value |= NV_VIRTUAL_FUNCTION_DOORBELL_RUNLIST_DOORBELL_GB202;
	return true;
}

/* PARTITION_CTL is not documented for GB10B. */
static const struct nvdebug_cwd_ops cwd_gb100 = {
	.gpc_tpc_id = NV_PGRAPH_PRI_CWD_GPC_TPC_ID_GH100(0),
	.sm_id = NV_PGRAPH_PRI_CWD_SM_ID_GH100(0),
	.gpc_tpc_words = NV_PGRAPH_PRI_CWD_GPC_TPC_ID__SIZE_1_GB10B,
	.sm_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1_GH100,
	.sms_per_tpc = 2,
	.fitted = true,
};

static const struct nvdebug_mmu_ops mmu_ops_gb100 = {
	.newest = &nvdebug_mmu_gb100,
};

static const struct nvdebug_window window_gb100 = {
	.reg = NV_XAL_EP_BAR0_WINDOW,
	.base = NV_XAL_EP_BAR0_WINDOW_BASE_GB100,
};

static const struct nvdebug_mode_ops cc_gb100 = {
	.bit = {
		{ NV_PMC_ZB_SCRATCH_RESET_2_CC, NV_CC_MODE_ENABLED },
	},
};

static const struct nvdebug_runlist_ops runlist_gb10b = {
	.entry_words = NV_RAMRL16_WORDS,
	.decode = nvdebug_entry16_decode_gb10b,
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

/* From GB10B on PENDING is valid, and has to be polled as well. */
static const struct nvdebug_preempt_ops preempt_gb10b = {
	.gate = NV_RUNLIST_SCHED_DISABLE,
	.tsg = NV_RUNLIST_PREEMPT,
	.tsg_pending = NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING,
	.tsg_watched = true,
	.runlist = NV_RUNLIST_PREEMPT,
};

static const struct nvdebug_runlist_block block_gb202 = {
	.channel_config = NV_RUNLIST_CHANNEL_CONFIG_GB202,
	.doorbell_config = NV_RUNLIST_DOORBELL_CONFIG_GB202,
	.pbdma_config = NV_RUNLIST_PBDMA_CONFIG_GB202,
	.pbdma_ids = true,
	.engine_status0 = NV_RUNLIST_ENGINE_STATUS0_GB202,
	.engine_status_debug = NV_RUNLIST_ENGINE_STATUS_DEBUG_GB202,
	.engines = NV_RUNLIST_ENGINE_STATUS__SIZE_1_GB202,
};

static u32 registers_gb202(const struct nvdebug_runlist *runlist)
{
	return runlist->base + NV_RUNLIST_SUBMIT_BASE_LO_GB202;
}

static const struct nvdebug_runlist_ops runlist_gb202 = {
	.entry_words = NV_RAMRL16_WORDS,
	.decode = nvdebug_entry16_decode_gb10b,
	.skip = nvdebug_entry16_skip,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = registers_gb202,
	.length_offset = NV_RUNLIST_SUBMIT - NV_RUNLIST_SUBMIT_BASE_LO,
	.ptr_lo = NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GB202,
	.ptr_hi = NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI_GB10B,
	.block = &block_gb202,
	.channels = NV_RUNLIST_CHANNELS,
	.location = nvdebug_runlist_location_read_tu102,
	.prepare = nvdebug_runlist_prepare_ga100,
};

static const struct nvdebug_submit_ops submit_gb202 = {
	.port = registers_gb202,
	.encode = nvdebug_submit_words_tu102,
	.ptr = GENMASK_ULL(51, 8),
};

static const struct nvdebug_preempt_ops preempt_gb202 = {
	.gate = NV_RUNLIST_SCHED_DISABLE_GB202,
	.tsg = NV_RUNLIST_PREEMPT_GB202,
	.tsg_pending = NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING,
	.tsg_watched = true,
	.runlist = NV_RUNLIST_PREEMPT_GB202,
};

static const struct nvdebug_channel_ops channel_gb202 = {
	.form = NVDEBUG_CHANNEL_CHRAM,
	.per_runlist = true,
	.reg = nvdebug_channel_reg_ga100,
	.enable_word = nvdebug_chram_enable_word,
	.is_enabled = nvdebug_chram_is_enabled,
	.doorbell = doorbell_gb202,
	.instance_in_entry = true,
	.locate_instance = nvdebug_locate_instance_ga100,
};

/*
 * LCEs come in units of ten. Each unit has its own PCEs and registers; the
 * registers of the second unit are not public.
 */
static const struct nvdebug_copy_ops copy_gb100 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GA100,
	.pces = NV_CE_PCE2LCE_CONFIG__SIZE_1_GB100,
	.grces = NV_CE_GRCE_CONFIG__SIZE_1_GH100,
	.lces = NV_CE_SHIM_LCES_GB100,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GA100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GA100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_tu102,
};

static const struct nvdebug_copy_ops copy_gb202 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GA100,
	.pces = NV_CE_PCE2LCE_CONFIG__SIZE_1_GB202,
	.grces = NV_CE_GRCE_CONFIG__SIZE_1_GB202,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GA100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GA100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_tu102,
};

static const struct nvdebug_chip_model models_gb100[] = {
	{ 0x1a0, "GB100" },
	{ }
};

/* The chip has two dies, each with its own device table. */
const struct nvdebug_chip nvdebug_chip_gb100 = {
	.generation = "Blackwell",
	.models = models_gb100,
	.ptop = &nvdebug_ptop_gb100,
	.runlist = &runlist_gb10b,
	.channel = &nvdebug_channel_gh100,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_gh100,
	.context = &nvdebug_context_gh100,
	.copy = &copy_gb100,
	.submit = &nvdebug_submit_gh100,
	.preempt = &preempt_gb10b,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_ga102,
	.cwd = &cwd_gb100,
	.memory = &nvdebug_memory_gk104,
	.window = &window_gb100,
	.bars = &nvdebug_bars_gh100,
	.mmu = &mmu_ops_gb100,
	.page_tables = "3",
	.mig = &nvdebug_mig_gh100,
	.cc = &cc_gb100,
};

static const struct nvdebug_chip_model models_gb102[] = {
	{ 0x1a2, "GB102" },
	{ 0x1a3, "GB110" },
	{ 0x1a4, "GB112" },
	{ }
};

/* A second table is documented for GB100 only. */
const struct nvdebug_chip nvdebug_chip_gb102 = {
	.generation = "Blackwell",
	.models = models_gb102,
	.ptop = &nvdebug_ptop_ga100,
	.runlist = &runlist_gb10b,
	.channel = &nvdebug_channel_gh100,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_gh100,
	.context = &nvdebug_context_gh100,
	.copy = &copy_gb100,
	.submit = &nvdebug_submit_gh100,
	.preempt = &preempt_gb10b,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_ga102,
	.cwd = &cwd_gb100,
	.memory = &nvdebug_memory_gk104,
	.window = &window_gb100,
	.bars = &nvdebug_bars_gh100,
	.mmu = &mmu_ops_gb100,
	.page_tables = "3",
	.mig = &nvdebug_mig_gh100,
	.cc = &cc_gb100,
};

static const struct nvdebug_chip_model models_gb202[] = {
	{ 0x1b2, "GB202" },
	{ 0x1b3, "GB203" },
	{ 0x1b5, "GB205" },
	{ 0x1b6, "GB206" },
	{ 0x1b7, "GB207" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gb202 = {
	.generation = "Blackwell",
	.models = models_gb202,
	.missing = {
		[NVDEBUG_FEATURE_WORK_DISTRIBUTOR] =
			"GB20C has no table of TPCs by their ids",
	},
	.ptop = &nvdebug_ptop_gb202,
	.runlist = &runlist_gb202,
	.channel = &channel_gb202,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_gh100,
	.context = &nvdebug_context_gh100,
	.copy = &copy_gb202,
	.submit = &submit_gb202,
	.preempt = &preempt_gb202,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_ga102,
	.memory = &nvdebug_memory_gk104,
	.window = &window_gb100,
	.bars = &nvdebug_bars_gh100,
	.mmu = &mmu_ops_gb100,
	.page_tables = "3",
};
