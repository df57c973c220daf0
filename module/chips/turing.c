// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * TU102 to TU117: each runlist has its own submit registers, which are also
 * read for its location. GRCEs have a bit that says whether they share an LCE.
 */
#include <linux/bitfield.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
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
#include "hw/pfifo.h"
#include "hw/ram.h"
#include "hw/runlist.h"
#include "hw/usermode.h"

/*
 * Ring for all runlists: to find the channel's runlist all lists would have to
 * be read.
 */
static bool doorbell_tu102(const struct nvdebug_runlist *runlist,
			   u32 id, u32 *reg, u32 *value)
{
	*reg = NV_USERMODE_NOTIFY_CHANNEL_PENDING;
	*value = FIELD_PREP(NV_USERMODE_NOTIFY_CHANNEL_PENDING_CHID, id) |
		 FIELD_PREP(NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID,
			    NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID_ALL);
	return true;
}

static const struct nvdebug_mmu_ops mmu_ops_tu102 = {
	.newest = &nvdebug_mmu_tu102,
};

/*
 * PBUS has these registers, too, but it is not known whether they reflect the
 * current state (by GA100's manual they store nothing). So they are used only
 * if the other registers fail, and only if they have a bound instance block.
 */
static int read_block_tu102(struct nvdebug_gpu *gpu, int bar,
			    struct nvdebug_bar_block *block)
{
	int ret;

	ret = nvdebug_bar_read_block(gpu, bar, bar == 1 ? NV_VF_BAR1_BLOCK :
					      NV_VF_BAR2_BLOCK,
			 NV_VF_BIND_STATUS, block);
	if (ret != -EIO)
		return ret;
	ret = nvdebug_bar_read_block_gk104(gpu, bar, block);
	return ret ? ret : block->is_virtual ? 0 : -EIO;
}

const struct nvdebug_bar_ops nvdebug_bars_tu102 = {
	.block = read_block_tu102,
};

/* Offsets from the first register, the same in Ampere's register block. */
#define BASE_LO		0x0
#define BASE_HI		0x4
#define SUBMIT		0x8
#define SUBMIT_INFO	0xc

static u32 registers_tu102(const struct nvdebug_runlist *runlist)
{
	return NV_PFIFO_RUNLIST_BASE_LO(runlist->id);
}

int nvdebug_runlist_location_read_tu102(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_runlist_ops *ops = gpu->chip->runlist;
	u32 reg = ops->registers(runlist);
	u32 lo, hi, submit, info;
	int ret;

	nvdebug_reg_expect(gpu, reg + BASE_LO);
	nvdebug_reg_expect(gpu, reg + BASE_HI);
	nvdebug_reg_expect(gpu, reg + SUBMIT);
	nvdebug_reg_expect(gpu, reg + SUBMIT_INFO);
	/*
	 * An address can look like an error code. The other three registers
	 * cannot, so they detect an error.
	 */
	ret = nvdebug_reg_read_address(gpu, reg + BASE_LO, ops->ptr_lo |
				       NV_RUNLIST_SUBMIT_BASE_LO_TARGET, &lo);
	if (ret)
		return ret;
	ret = nvdebug_reg_read(gpu, reg + BASE_HI, &hi);
	if (ret)
		return ret;
	ret = nvdebug_reg_read(gpu, reg + SUBMIT, &submit);
	if (ret)
		return ret;
	ret = nvdebug_reg_read(gpu, reg + SUBMIT_INFO, &info);
	if (ret)
		return ret;
	nvdebug_runlist_location_tu102(lo, hi, submit, info, ops->ptr_lo,
				       ops->ptr_hi, loc);
	return 0;
}

static const struct nvdebug_runlist_ops runlist_tu102 = {
	.entry_words = NV_RAMRL16_WORDS,
	.has_runqueue = true,
	.decode = nvdebug_entry16_decode,
	.skip = nvdebug_entry16_skip_gv100,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = registers_tu102,
	.length_offset = SUBMIT,
	.ptr_lo = NV_PFIFO_RUNLIST_BASE_LO_PTR_LO,
	.ptr_hi = NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI,
	.location = nvdebug_runlist_location_read_tu102,
	.prepare = nvdebug_runlist_prepare_gk104,
};

static const struct nvdebug_submit_ops submit_tu102 = {
	.port = registers_tu102,
	.encode = nvdebug_submit_words_tu102,
	.ptr = GENMASK_ULL(39, 12),
};

static const struct nvdebug_channel_ops channel_tu102 = {
	.form = NVDEBUG_CHANNEL_PCCSR,
	.has_faults = true,
	.count_reg = NV_PFIFO_CFG1,
	.reg = nvdebug_channel_reg_gk104,
	.enable_word = nvdebug_pccsr_enable_word_gv100,
	.is_enabled = nvdebug_pccsr_is_enabled,
	.doorbell = doorbell_tu102,
	.locate_instance = nvdebug_locate_instance_gk104,
};

static const struct nvdebug_copy_ops copy_tu102 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GP100,
	.pces = 4,
	.grces = 2,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GV100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GV100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_tu102,
};

static const struct nvdebug_chip_model models[] = {
	{ 0x162, "TU102" },
	{ 0x164, "TU104" },
	{ 0x166, "TU106" },
	{ 0x167, "TU117" },
	{ 0x168, "TU116" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_tu102 = {
	.generation = "Turing",
	.models = models,
	.ptop = &nvdebug_ptop_gm200,
	.runlist = &runlist_tu102,
	.channel = &channel_tu102,
	.status = &nvdebug_status_gk104,
	.instance = &nvdebug_instance_gv100,
	.context = &nvdebug_context_gv100,
	.copy = &copy_tu102,
	.submit = &submit_tu102,
	.preempt = &nvdebug_preempt_gv100,
	.geometry = &nvdebug_geometry_gm200,
	.video_memory = &nvdebug_video_memory_ops_gp102,
	.cwd = &nvdebug_cwd_gv100,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_tu102,
	.mmu = &mmu_ops_tu102,
	.channels = 4096,
	.page_tables = "2",
};
