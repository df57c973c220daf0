// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GA100 and GA102 to GA107: a register block and a channel RAM per runlist,
 * instance pointers in the entries, PTOP version 2. GA100 and the others
 * differ in the alignment of runlists and in the number of copy engines.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/channel.h"
#include "decode/context.h"
#include "decode/copy.h"
#include "decode/engine_status.h"
#include "decode/geometry.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "decode/timeslice.h"
#include "hw/ce.h"
#include "hw/fuse.h"
#include "hw/modes.h"
#include "hw/pbdma.h"
#include "hw/pfb.h"
#include "hw/ram.h"
#include "hw/runlist.h"

u32 nvdebug_channel_reg_ga100(const struct nvdebug_runlist *runlist, u32 id)
{
	return runlist->chram + NV_CHRAM_CHANNEL(id);
}

int nvdebug_locate_instance_ga100(struct nvdebug_gpu *gpu, u32 id,
				  const struct nvdebug_entry *entry,
				  struct nvdebug_instance_place *place)
{
	place->addr = entry->inst;
	place->aperture = entry->inst_aperture;
	/* The hardware does the same (GA100 manual, dev_ram.ref.txt). */
	if (place->aperture == NV_APERTURE_INVALID)
		place->aperture = NV_APERTURE_VID;
	/* There is no valid bit; no driver puts a block at address 0. */
	place->bound = place->addr;
	return 0;
}

static bool doorbell_ga100(const struct nvdebug_runlist *runlist,
			   u32 id, u32 *reg, u32 *value)
{
	*reg = runlist->base + NV_RUNLIST_INTERNAL_DOORBELL;
	*value = FIELD_PREP(NV_RUNLIST_INTERNAL_DOORBELL_CHID, id);
	return true;
}

static u32 slot_reg(const struct nvdebug_gpu *gpu,
		    const struct nvdebug_engine *engine, u32 offset)
{
	if (!offset || engine->rleng >= gpu->chip->runlist->block->engines)
		return 0;
	return engine->runlist_base + offset +
	       NV_RUNLIST_ENGINE_STATUS__STRIDE * engine->rleng;
}

static u32 engine_reg_ga100(const struct nvdebug_gpu *gpu,
			    const struct nvdebug_engine *engine)
{
	return slot_reg(gpu, engine,
			gpu->chip->runlist->block->engine_status0);
}

static u32 pbdma_reg_ga100(const struct nvdebug_pbdma *pbdma)
{
	return pbdma->base + NV_PPBDMA_STATUS_SCHED;
}

static u32 channel_reg_ga100(const struct nvdebug_gpu *gpu,
			     const struct nvdebug_engine *engine, u32 n)
{
	u32 reg = slot_reg(gpu, engine,
			   gpu->chip->runlist->block->engine_status_channel);

	return reg && n < NV_RUNLIST_PBDMA_CONFIG__SIZE_1 ? reg + 4 * n : 0;
}

const struct nvdebug_status_ops nvdebug_status_ga100 = {
	.engine_reg = engine_reg_ga100,
	.pbdma_reg = pbdma_reg_ga100,
	.channel_reg = channel_reg_ga100,
	.engine = nvdebug_engine_status_ga100,
	.pbdma = nvdebug_pbdma_status_ga100,
	.pbdma_channel_valid = NV_PPBDMA_CHANNEL_VALID,
	.faults_of_all = true,
};

const struct nvdebug_geometry_ops nvdebug_geometry_ga100 = {
	.gpc_reg = { NV_FUSE_STATUS_OPT_GPC_GA100 },
	.tpc_reg = { NV_FUSE_STATUS_OPT_TPC_GPC_GA100 },
	.has_ltcs = true,
};

const struct nvdebug_video_memory_ops nvdebug_video_memory_ops_ga102 = {
	.reg = NV_USABLE_FB_SIZE_IN_MB_GA102,
	.bytes = nvdebug_video_memory_ga102,
};

const struct nvdebug_mmu_ops nvdebug_mmu_ops_ga100 = {
	.newest = &nvdebug_mmu_ga100,
};

static const struct nvdebug_mode_ops mig_ga100 = {
	.bit = {
		{ NV_SMCARB_SYS_PIPE_INFO, NV_SMCARB_SYS_PIPE_INFO_MODE },
		{ NV_PBUS_SW_SCRATCH1, NV_PBUS_SW_SCRATCH1_SMC_MODE },
	},
};

static const struct nvdebug_runlist_block runlist_block_ga100 = {
	.channel_config = NV_RUNLIST_CHANNEL_CONFIG,
	.doorbell_config = NV_RUNLIST_DOORBELL_CONFIG,
	.pbdma_config = NV_RUNLIST_PBDMA_CONFIG,
	.engine_status0 = NV_RUNLIST_ENGINE_STATUS0,
	.engine_status1 = NV_RUNLIST_ENGINE_STATUS1,
	.engine_status_channel = NV_RUNLIST_ENGINE_STATUS_CHANNEL,
	.engine_status_debug = NV_RUNLIST_ENGINE_STATUS_DEBUG,
	.engines = NV_RUNLIST_ENGINE_STATUS__SIZE_1,
};

u32 nvdebug_runlist_registers_ga100(const struct nvdebug_runlist *runlist)
{
	return runlist->base + NV_RUNLIST_SUBMIT_BASE_LO;
}

int nvdebug_runlist_prepare_ga100(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	u32 config, channels, chram;
	int ret;

	ret = nvdebug_reg_read(gpu, runlist->base + ops->block->channel_config,
			       &config);
	if (ret)
		return ret;
	channels = 1 << FIELD_GET(NV_RUNLIST_CHANNEL_CONFIG_NUM_CHANNELS_LOG2,
				  config);
	chram = config & NV_RUNLIST_CHANNEL_CONFIG_CHRAM_BAR0_OFFSET;

	/* Ids have 12 bits, and the channel RAM must be within BAR0. */
	if (channels < 2 || channels > NVDEBUG_CHANNEL_IDS || !chram ||
	    chram > nvdebug_reg_bytes(gpu) - NV_CHRAM_CHANNEL(channels))
		return -EIO;
	if (ops->channels && channels != ops->channels)
		return -EIO;

	runlist->chram = chram;
	runlist->channels = channels;
	return 0;
}

static const struct nvdebug_runlist_ops runlist_ga100 = {
	.entry_words = NV_RAMRL16_WORDS,
	.decode = nvdebug_entry16_decode,
	.skip = nvdebug_entry16_skip,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = nvdebug_runlist_registers_ga100,
	.length_offset = NV_RUNLIST_SUBMIT - NV_RUNLIST_SUBMIT_BASE_LO,
	.ptr_lo = NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA100,
	.ptr_hi = NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI,
	.block = &runlist_block_ga100,
	.location = nvdebug_runlist_location_read_tu102,
	.prepare = nvdebug_runlist_prepare_ga100,
};

const struct nvdebug_runlist_ops nvdebug_runlist_ga102 = {
	.entry_words = NV_RAMRL16_WORDS,
	.decode = nvdebug_entry16_decode,
	.skip = nvdebug_entry16_skip,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = nvdebug_runlist_registers_ga100,
	.length_offset = NV_RUNLIST_SUBMIT - NV_RUNLIST_SUBMIT_BASE_LO,
	.ptr_lo = NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102,
	.ptr_hi = NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI,
	.block = &runlist_block_ga100,
	.location = nvdebug_runlist_location_read_tu102,
	.prepare = nvdebug_runlist_prepare_ga100,
};

static const struct nvdebug_submit_ops submit_ga100 = {
	.port = nvdebug_runlist_registers_ga100,
	.encode = nvdebug_submit_words_tu102,
	.ptr = GENMASK_ULL(39, 12),
};

const struct nvdebug_submit_ops nvdebug_submit_ga102 = {
	.port = nvdebug_runlist_registers_ga100,
	.encode = nvdebug_submit_words_tu102,
	.ptr = GENMASK_ULL(39, 10),
};

const struct nvdebug_preempt_ops nvdebug_preempt_ga100 = {
	.gate = NV_RUNLIST_SCHED_DISABLE,
	.tsg = NV_RUNLIST_PREEMPT,
	/* PENDING is cleared before all preempts are done. */
	.tsg_watched = true,
	.runlist = NV_RUNLIST_PREEMPT,
};

const struct nvdebug_channel_ops nvdebug_channel_ga100 = {
	.form = NVDEBUG_CHANNEL_CHRAM,
	.per_runlist = true,
	.reg = nvdebug_channel_reg_ga100,
	.enable_word = nvdebug_chram_enable_word,
	.is_enabled = nvdebug_chram_is_enabled,
	.doorbell = doorbell_ga100,
	.instance_in_entry = true,
	.locate_instance = nvdebug_locate_instance_ga100,
};

static const struct nvdebug_copy_ops copy_ga100 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GA100,
	.pces = 18,
	.grces = 2,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GA100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GA100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_tu102,
};

const struct nvdebug_copy_ops nvdebug_copy_ga102 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GA100,
	.pces = 6,
	.grces = 2,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GA100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GA100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_tu102,
};

static const struct nvdebug_chip_model models_ga100[] = {
	{ 0x170, "GA100" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_ga100 = {
	.generation = "Ampere",
	.models = models_ga100,
	.ptop = &nvdebug_ptop_ga100,
	.runlist = &runlist_ga100,
	.channel = &nvdebug_channel_ga100,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_ga100,
	.context = &nvdebug_context_gv100,
	.copy = &copy_ga100,
	.submit = &submit_ga100,
	.preempt = &nvdebug_preempt_ga100,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_gp102,
	.cwd = &nvdebug_cwd_gv100,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_tu102,
	.mmu = &nvdebug_mmu_ops_ga100,
	.page_tables = "2",
	.mig = &mig_ga100,
};

static const struct nvdebug_chip_model models_ga102[] = {
	{ 0x172, "GA102" },
	{ 0x173, "GA103" },
	{ 0x174, "GA104" },
	{ 0x176, "GA106" },
	{ 0x177, "GA107" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_ga102 = {
	.generation = "Ampere",
	.models = models_ga102,
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
	.cwd = &nvdebug_cwd_gv100,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_tu102,
	.mmu = &nvdebug_mmu_ops_ga100,
	.page_tables = "2",
};
