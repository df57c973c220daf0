// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GP102 to GP108. The host scheduler is Kepler's, hence the names.
 */
#include "chips/chips.h"
#include "decode/channel.h"
#include "decode/copy.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "gpu.h"
#include "hw/ce.h"
#include "hw/pfifo.h"
#include "hw/ram.h"

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

/* Channels are the GPU's, not the runlist's. */
int nvdebug_runlist_prepare_gk104(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist)
{
	runlist->channels = gpu->topology.channels;
	return 0;
}

static const struct nvdebug_runlist_ops runlist_gk104 = {
	.entry_words = NV_RAMRL8_WORDS,
	.decode = nvdebug_entry8_decode,
	.is_pri_error = nvdebug_entry8_is_pri_error,
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
};

static const struct nvdebug_channel_ops channel_gp102 = {
	/* linux-nvgpu hw_ccsr_gp106.h; no register is known to say so */
	.count = 4096,
	.reg = nvdebug_channel_reg_gk104,
	.enable_word = nvdebug_pccsr_enable_word_gk104,
	.is_enabled = nvdebug_pccsr_is_enabled,
	.doorbell = nvdebug_channel_doorbell_gk104,
	.read = nvdebug_channel_read_gk104,
	.show = nvdebug_channel_show_gk104,
	.show_entry = nvdebug_channel_show_entry_gk104,
};

static const struct nvdebug_copy_ops copy_gp102 = {
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
	.ptop = &nvdebug_ptop_gk104,
	.runlist = &runlist_gk104,
	.channel = &channel_gp102,
	.copy = &copy_gp102,
	.submit = &nvdebug_submit_gk104,
	.preempt = &nvdebug_preempt_gk104,
	.window = &nvdebug_window_nv50,
	.page_tables = "1 or 2",
};
