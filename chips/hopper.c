// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GH100: runlists as on GA102. Of their register blocks only PREEMPT and the
 * channel RAM are public; that the rest is as on Ampere is inferred from
 * NVIDIA's driver using the same functions (open-gpu-kernel-modules
 * src/nvidia/generated/g_kernel_fifo_nvoc.c), so that what a block says of
 * itself is checked before it is used. Entries are taken to be GA100's.
 */
#include "chips/chips.h"
#include "decode/channel.h"
#include "decode/runlist.h"
#include "decode/timeslice.h"
#include "hw/ram.h"
#include "hw/runlist.h"

static const struct nvdebug_runlist_ops runlist_gh100 = {
	.entry_words = NV_RAMRL16_WORDS,
	.has_runqueue = true,
	.decode = nvdebug_entry16_decode,
	.is_pri_error = nvdebug_entry16_is_pri_error,
	.set_timeslice = nvdebug_entry16_set_timeslice,
	.registers = nvdebug_runlist_registers_ga100,
	.length_offset = NV_RUNLIST_SUBMIT - NV_RUNLIST_SUBMIT_BASE_LO,
	.ptr_lo = NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102,
	.ptr_hi = NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI,
	.block = &nvdebug_runlist_block_ga100,
	.channels = NV_RUNLIST_CHANNELS,
	.location = nvdebug_runlist_location_read_tu102,
	.prepare = nvdebug_runlist_prepare_ga100,
};

const struct nvdebug_channel_ops nvdebug_channel_gh100 = {
	.per_runlist = true,
	.has_faults = true,
	.reg = nvdebug_channel_reg_ga100,
	.enable_word = nvdebug_chram_enable_word,
	.is_enabled = nvdebug_chram_is_enabled,
	.doorbell = nvdebug_channel_doorbell_gh100,
	.place = nvdebug_channel_place_ga100,
	.read = nvdebug_channel_read_ga100,
	.show = nvdebug_channel_show_ga100,
	.show_entry = nvdebug_channel_show_entry_ga100,
};

static const struct nvdebug_chip_model models[] = {
	{ 0x180, "GH100" },
	{ }
};

const struct nvdebug_chip nvdebug_chip_gh100 = {
	.generation = "Hopper",
	.models = models,
	.missing = {
		[NVDEBUG_FEATURE_WORK_DISTRIBUTOR] =
			"where its tables are with more than 64 TPCs is not public",
		[NVDEBUG_FEATURE_COPY_TOPOLOGY] =
			"no public source tells where the registers are",
	},
	.ptop = &nvdebug_ptop_ga100,
	.runlist = &runlist_gh100,
	.channel = &nvdebug_channel_gh100,
	.status = &nvdebug_status_ga100,
	.instance = &nvdebug_instance_gh100,
	.context = &nvdebug_context_gv100,
	.submit = &nvdebug_submit_ga102,
	.preempt = &nvdebug_preempt_ga100,
	.geometry = &nvdebug_geometry_ga100,
	.video_memory = &nvdebug_video_memory_ops_ga102,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_gh100,
	.bars = &nvdebug_bars_gh100,
	.mmu = &nvdebug_mmu_ops_gh100,
	.page_tables = "3",
};
