// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * GH100: runlists as on GA102. Of their register blocks only PREEMPT and the
 * channel RAM are public. That the rest, and the entries, are as on Ampere was
 * seen on an H100, but for how long addresses are: physical ones have 52 bits
 * (as in its page tables), which is what GB10B's registers have room for.
 */
#include "chips/chips.h"
#include "decode/channel.h"
#include "decode/copy.h"
#include "decode/runlist.h"
#include "decode/submit.h"
#include "decode/timeslice.h"
#include "hw/ce.h"
#include "hw/ram.h"
#include "hw/runlist.h"

/* INTR_ID is gone: virtual functions' ids are there (GB10B; so on an H100). */
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
	.has_runqueue = true,
	.decode = nvdebug_entry16_decode,
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
	.cwd = &nvdebug_cwd_gh100,
	.memory = &nvdebug_memory_gk104,
	.window = &nvdebug_window_gh100,
	.bars = &nvdebug_bars_gh100,
	.mmu = &nvdebug_mmu_ops_gh100,
	.page_tables = "3",
	.mig = &nvdebug_mig_gh100,
	.cc = &nvdebug_cc_gh100,
};
