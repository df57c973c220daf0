// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GK104 to GK208: the host scheduler used up to Volta. Copy engines are
 * physical; logical ones came with Pascal.
 *
 * Numbers of channels: nouveau drm/nouveau/nvkm/engine/fifo/{gk104,gk110,
 * gk208}.c.
 */
#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/bar.h"
#include "decode/channel.h"
#include "decode/context.h"
#include "decode/engine_status.h"
#include "decode/instance.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "decode/timeslice.h"
#include "hw/bar.h"
#include "hw/fuse.h"
#include "hw/pbus.h"
#include "hw/pfifo.h"
#include "hw/ram.h"

u32 nvdebug_channel_reg_gk104(const struct nvdebug_runlist *runlist, u32 id)
{
	return NV_PCCSR_CHANNEL(id);
}

int nvdebug_locate_instance_gk104(struct nvdebug_gpu *gpu, u32 id,
				  const struct nvdebug_entry *entry,
				  struct nvdebug_instance_place *place)
{
	u32 inst = 0;	/* not bound: the entry's id is impossible */
	int ret = 0;

	if (id < gpu->topology.channels)
		ret = nvdebug_reg_read(gpu, NV_PCCSR_CHANNEL_INST(id), &inst);
	nvdebug_pccsr_inst_decode(inst, place);
	return ret;
}

/* Up to Pascal there is no doorbell, because Host polls USERD. */
static bool doorbell_gk104(const struct nvdebug_runlist *runlist,
			   u32 id, u32 *reg, u32 *value)
{
	return false;
}

static u32 engine_reg_gk104(const struct nvdebug_gpu *gpu,
			    const struct nvdebug_engine *engine)
{
	return engine->has & NVDEBUG_ENGINE_HAS_ID ?
		NV_PFIFO_ENGINE_STATUS(engine->engine_id) : 0;
}

static u32 pbdma_reg_gk104(const struct nvdebug_pbdma *pbdma)
{
	return NV_PFIFO_PBDMA_STATUS(pbdma->number);
}

static u32 channel_reg_gk104(const struct nvdebug_gpu *gpu,
			     const struct nvdebug_engine *engine, u32 n)
{
	return 0;
}

const struct nvdebug_status_ops nvdebug_status_gk104 = {
	.engine_reg = engine_reg_gk104,
	.pbdma_reg = pbdma_reg_gk104,
	.channel_reg = channel_reg_gk104,
	.engine = nvdebug_engine_status_gk104,
	.pbdma = nvdebug_pbdma_status_gk104,
};

static const struct nvdebug_geometry_ops geometry_gk104 = {
	.gpc_reg = { NV_PTOP_FS_GPC_GK104, NV_PTOP_FS_GPC_SW_GK104 },
	.tpc_reg = { NV_PTOP_FS_TPC_GPC_GK104, NV_PTOP_FS_TPC_GPC_SW_GK104 },
};

const struct nvdebug_mmu_ops nvdebug_mmu_ops_gk104 = {
	.version1_64k = &nvdebug_mmu_gk104_64k,
	.version1_128k = &nvdebug_mmu_gk104_128k,
};

const struct nvdebug_memory_ops nvdebug_memory_gk104 = {
	.place = {
		[NV_APERTURE_VID] = NVDEBUG_PLACE_VIDEO,
		[NV_APERTURE_COH] = NVDEBUG_PLACE_SYSTEM,
		[NV_APERTURE_NCOH] = NVDEBUG_PLACE_SYSTEM,
	},
	.list_aperture = NV_APERTURE_COH,
	.unflagged_is_translated = true,
};

const struct nvdebug_window nvdebug_window_nv50 = {
	.reg = NV_PBUS_BAR0_WINDOW,
	.base = NV_PBUS_BAR0_WINDOW_BASE,
	.target = NV_PBUS_BAR0_WINDOW_TARGET,
};

int nvdebug_bar_read_block(struct nvdebug_gpu *gpu, int bar, u32 block_reg,
			   u32 bind_reg, struct nvdebug_bar_block *block)
{
	u32 value, bind;
	int ret;

	ret = nvdebug_reg_read(gpu, bind_reg, &bind);
	if (!ret)
		ret = nvdebug_reg_read(gpu, block_reg, &value);
	if (!ret)
		nvdebug_bar_block_gk104(value, bind, bar, block);
	return ret;
}

int nvdebug_bar_read_block_gk104(struct nvdebug_gpu *gpu, int bar,
				 struct nvdebug_bar_block *block)
{
	u32 block_reg = bar == 1 ? NV_PBUS_BAR1_BLOCK : NV_PBUS_BAR2_BLOCK;

	return nvdebug_bar_read_block(gpu, bar, block_reg, NV_PBUS_BIND_STATUS,
				      block);
}

const struct nvdebug_bar_ops nvdebug_bars_gk104 = {
	.block = nvdebug_bar_read_block_gk104,
};

u32 nvdebug_runlist_registers_gk104(const struct nvdebug_runlist *runlist)
{
	return NV_PFIFO_ENG_RUNLIST_BASE(runlist->id);
}

int nvdebug_runlist_location_read_gk104(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					struct nvdebug_runlist_location *loc)
{
	u32 base, info;
	int ret;

	ret = nvdebug_reg_read(gpu, NV_PFIFO_ENG_RUNLIST_BASE(runlist->id),
			       &base);
	if (ret)
		return ret;
	ret = nvdebug_reg_read(gpu, NV_PFIFO_ENG_RUNLIST(runlist->id), &info);
	if (ret)
		return ret;
	nvdebug_runlist_location_gk104(base, info, loc);
	return 0;
}

/* Channel ids are global, so the runlist has nothing to read. */
int nvdebug_runlist_prepare_gk104(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist)
{
	runlist->channels = gpu->topology.channels;
	return 0;
}

const struct nvdebug_runlist_ops nvdebug_runlist_gk104 = {
	.entry_words = NV_RAMRL8_WORDS,
	.decode = nvdebug_entry8_decode,
	.skip = nvdebug_entry8_skip,
	.is_pri_error = nvdebug_entry8_is_pri_error,
	.set_timeslice = nvdebug_entry8_set_timeslice,
	.registers = nvdebug_runlist_registers_gk104,
	.length_offset = NV_PFIFO_ENG_RUNLIST(0) - NV_PFIFO_ENG_RUNLIST_BASE(0),
	.location = nvdebug_runlist_location_read_gk104,
	.prepare = nvdebug_runlist_prepare_gk104,
};

static u32 submit_port_gk104(const struct nvdebug_runlist *runlist)
{
	return NV_PFIFO_RUNLIST_BASE;
}

const struct nvdebug_submit_ops nvdebug_submit_gk104 = {
	.port = submit_port_gk104,
	.encode = nvdebug_submit_words_gk104,
	.ptr = GENMASK_ULL(39, 12),
};

const struct nvdebug_preempt_ops nvdebug_preempt_gk104 = {
	.shared = true,
	.gate = NV_PFIFO_SCHED_DISABLE,
	.tsg = NV_PFIFO_PREEMPT,
	.tsg_pending = NV_PFIFO_PREEMPT_PENDING,
};

const struct nvdebug_channel_ops nvdebug_channel_gk104 = {
	.form = NVDEBUG_CHANNEL_PCCSR,
	.reg = nvdebug_channel_reg_gk104,
	.enable_word = nvdebug_pccsr_enable_word_gk104,
	.is_enabled = nvdebug_pccsr_is_enabled,
	.doorbell = doorbell_gk104,
	.locate_instance = nvdebug_locate_instance_gk104,
};

static const struct nvdebug_chip_model models_gk104[] = {
	{ 0x0e4, "GK104" },
	{ 0x0e6, "GK106" },
	{ 0x0e7, "GK107" },
	{ 0x0f0, "GK110" },
	{ 0x0f1, "GK110B" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gk104 = {
	.generation = "Kepler",
	.models = models_gk104,
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
	.geometry = &geometry_gk104,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_gk104,
	.mmu = &nvdebug_mmu_ops_gk104,
	.channels = 4096,
	.page_tables = "1",
};

static const struct nvdebug_chip_model models_gk208[] = {
	{ 0x106, "GK208B" },
	{ 0x108, "GK208" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gk208 = {
	.generation = "Kepler",
	.models = models_gk208,
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
	.geometry = &geometry_gk104,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_gk104,
	.mmu = &nvdebug_mmu_ops_gk104,
	.channels = 1024,
	.page_tables = "1",
};
