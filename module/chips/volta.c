// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GV100: 16-byte runlist entries, fault bits in PCCSR, one config register per
 * copy engine. The hardware still uses the instance pointers in PCCSR, and not
 * those in the entries (GV100 manual, dev_ram.ref.txt).
 */
#include "chips/chips.h"
#include "decode/channel.h"
#include "decode/context.h"
#include "decode/copy.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/runlist.h"
#include "decode/timeslice.h"
#include "hw/ce.h"
#include "hw/cwd.h"
#include "hw/pfifo.h"
#include "hw/ram.h"
#include "hw/usermode.h"

static bool doorbell_gv100(const struct nvdebug_runlist *runlist,
			   u32 id, u32 *reg, u32 *value)
{
	*reg = NV_USERMODE_NOTIFY_CHANNEL_PENDING;
	*value = id;
	return true;
}

const struct nvdebug_cwd_ops nvdebug_cwd_gv100 = {
	.gpc_tpc_id = NV_PGRAPH_PRI_CWD_GPC_TPC_ID(0),
	.sm_id = NV_PGRAPH_PRI_CWD_SM_ID(0),
	.gpc_tpc_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1,
	.sm_words = NV_PGRAPH_PRI_CWD_SM_ID__SIZE_1,
	.sms_per_tpc = 2,
	.has_partitions = true,
};

static const struct nvdebug_mmu_ops mmu_ops_gv100 = {
	.newest = &nvdebug_mmu_gp100,
};

const struct nvdebug_runlist_ops nvdebug_runlist_gv100 = {
	.entry_words = NV_RAMRL16_WORDS,
	.has_runqueue = true,
	.decode = nvdebug_entry16_decode,
	.skip = nvdebug_entry16_skip_gv100,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = nvdebug_runlist_registers_gk104,
	.length_offset = NV_PFIFO_ENG_RUNLIST(0) - NV_PFIFO_ENG_RUNLIST_BASE(0),
	.location = nvdebug_runlist_location_read_gk104,
	.prepare = nvdebug_runlist_prepare_gk104,
};

const struct nvdebug_preempt_ops nvdebug_preempt_gv100 = {
	.shared = true,
	.gate = NV_PFIFO_SCHED_DISABLE,
	.tsg = NV_PFIFO_PREEMPT,
	/*
	 * linux-nvgpu does not rely on PENDING (hal/fifo/preempt_gv11b_fusa.c).
	 */
	.tsg_watched = true,
	.runlist = NV_PFIFO_RUNLIST_PREEMPT,
};

const struct nvdebug_channel_ops nvdebug_channel_gv100 = {
	.form = NVDEBUG_CHANNEL_PCCSR,
	.has_faults = true,
	.count_reg = NV_PFIFO_CFG1,
	.reg = nvdebug_channel_reg_gk104,
	.enable_word = nvdebug_pccsr_enable_word_gv100,
	.is_enabled = nvdebug_pccsr_is_enabled,
	.doorbell = doorbell_gv100,
	.locate_instance = nvdebug_locate_instance_gk104,
};

const struct nvdebug_copy_ops nvdebug_copy_gv100 = {
	.pce_map = NV_CE_PCE_MAP_VALUE_GP100,
	.pces = 9,
	.grces = 2,
	.pce_reg = NV_CE_PCE2LCE_CONFIG_GV100,
	.pce_stride = 4,
	.grce_reg = NV_CE_GRCE_CONFIG_GV100,
	.grce_stride = 4,
	.pce_lce = nvdebug_pce_lce_gv100,
	.grce_lce = nvdebug_grce_lce_gv100,
};

static const struct nvdebug_chip_model models[] = {
	{ 0x140, "GV100" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gv100 = {
	.generation = "Volta",
	.models = models,
	.ptop = &nvdebug_ptop_gm200,
	.runlist = &nvdebug_runlist_gv100,
	.channel = &nvdebug_channel_gv100,
	.status = &nvdebug_status_gk104,
	.instance = &nvdebug_instance_gv100,
	.context = &nvdebug_context_gv100,
	.copy = &nvdebug_copy_gv100,
	.submit = &nvdebug_submit_gk104,
	.preempt = &nvdebug_preempt_gv100,
	.geometry = &nvdebug_geometry_gm200,
	.video_memory = &nvdebug_video_memory_ops_gp102,
	.cwd = &nvdebug_cwd_gv100,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_nv50,
	.bars = &nvdebug_bars_gk104,
	.mmu = &mmu_ops_gv100,
	.channels = 4096,
	.page_tables = "2",
};
