// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GPUs of SoCs: GP10B (Jetson TX2), GV11B (Xavier) and GA10B (Orin). They are
 * like the discrete chips of their generation, without video memory: all memory
 * is the SoC's.
 *
 * Sources: linux-nvgpu include/nvgpu/hw/{gp10b,gv11b,ga10b}/hw_{ccsr,fifo,
 * runlist,top,fuse,timer,gmmu}_*.h, whose registers are where GP10x, GV100 and
 * GA10x have them; number of channels: hw_ccsr_{gp10b,gv11b}.h.
 */
#include "chips/chips.h"
#include "decode/context.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "hw/ram.h"

static const struct nvdebug_mmu_ops mmu_ops_gp10b = {
	.newest = &nvdebug_mmu_gp10b,
	.newest_128k = &nvdebug_mmu_gp10b_128k,
	.version1_64k = &nvdebug_mmu_gk104_64k,
	.version1_128k = &nvdebug_mmu_gk104_128k,
};

static const struct nvdebug_mmu_ops mmu_ops_gv11b = {
	.newest = &nvdebug_mmu_gp10b,
};

/*
 * Every aperture selects the SoC's memory; linux-nvgpu uses the aperture of
 * video memory (common/mm/nvgpu_mem.c, honors_aperture in os/linux). Bit 36
 * selects translation by the SMMU (hal/mm/gmmu/gmmu_gp10b_fusa.c).
 */
static const struct nvdebug_memory_ops memory_gp10b = {
	.place = {
		[NV_APERTURE_VID] = NVDEBUG_PLACE_SYSTEM,
		[NV_APERTURE_COH] = NVDEBUG_PLACE_SYSTEM,
		[NV_APERTURE_NCOH] = NVDEBUG_PLACE_SYSTEM,
	},
	.list_aperture = NV_APERTURE_VID,
	.flag = BIT_ULL(36),
	.flagged_is_translated = true,
};

/*
 * Apertures are honoured, and the SMMU is bypassed (hal/init/hal_gv11b.c,
 * hal_ga10b.c). Bit 36 now requests allocation in the L3 cache (hal/mm/gmmu/
 * gmmu_gv11b_fusa.c, gmmu_ga10b_fusa.c).
 */
static const struct nvdebug_memory_ops memory_gv11b = {
	.place = {
		[NV_APERTURE_COH] = NVDEBUG_PLACE_SYSTEM,
		[NV_APERTURE_NCOH] = NVDEBUG_PLACE_SYSTEM,
	},
	.list_aperture = NV_APERTURE_COH,
	.flag = BIT_ULL(36),
};

static const struct nvdebug_memory_ops memory_ga10b = {
	.place = {
		[NV_APERTURE_COH] = NVDEBUG_PLACE_SYSTEM,
		[NV_APERTURE_NCOH] = NVDEBUG_PLACE_SYSTEM,
	},
	.list_aperture = NV_APERTURE_COH,
	.flag = BIT_ULL(37),
};

static const struct nvdebug_chip_model models_gp10b[] = {
	{ 0x13b, "GP10B" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gp10b = {
	.generation = "Pascal",
	.models = models_gp10b,
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
	.cwd = &nvdebug_cwd_gp100,
	.memory = &memory_gp10b,
	.mmu = &mmu_ops_gp10b,
	.channels = 512,
	.page_tables = "1 or 2",
};

static const struct nvdebug_chip_model models_gv11b[] = {
	{ 0x15b, "GV11B" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gv11b = {
	.generation = "Volta",
	.models = models_gv11b,
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
	.cwd = &nvdebug_cwd_gv100,
	.memory = &memory_gv11b,
	.mmu = &mmu_ops_gv11b,
	.channels = 512,
	.page_tables = "2",
};

static const struct nvdebug_chip_model models_ga10b[] = {
	{ 0x17b, "GA10B" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_ga10b = {
	.generation = "Ampere",
	.models = models_ga10b,
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
	.cwd = &nvdebug_cwd_gv100,
	.memory = &memory_ga10b,
	.mmu = &nvdebug_mmu_ops_ga100,
	.page_tables = "2",
	.mig = &nvdebug_mig_gh100,
};
