/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The state register of a channel: PCCSR up to Turing, channel
 * RAM (CHRAM) from Ampere on.
 */
#ifndef NVDEBUG_DECODE_CHANNEL_H
#define NVDEBUG_DECODE_CHANNEL_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvdebug_pccsr {
	bool enabled;
	bool next;
	bool force_ctx_reload;
	bool enable_set;
	bool enable_clear;
	bool pbdma_faulted;	/* Volta and Turing */
	bool eng_faulted;	/* Volta and Turing */
	bool busy;
	u8 status;		/* NV_PCCSR_CHANNEL_STATUS_* */
};

/* Location of a channel's instance block. */
struct nvdebug_instance_place {
	u64 addr;
	u8 aperture;
	bool bound;
};

static inline bool
nvdebug_instance_place_same(const struct nvdebug_instance_place *a,
			    const struct nvdebug_instance_place *b)
{
	return a->addr == b->addr && a->aperture == b->aperture &&
	       a->bound == b->bound;
}

struct nvdebug_chram {
	bool enabled;
	bool next;
	bool busy;
	bool pbdma_faulted;
	bool eng_faulted;
	bool on_pbdma;
	bool on_eng;
	bool pending;
	bool ctx_reload;
	bool pbdma_busy;
	bool eng_busy;
	bool acquire_fail;
	u8 status;		/* NV_PCCSR_CHANNEL_STATUS_* of equal meaning */
};

void nvdebug_pccsr_decode(u32 channel, struct nvdebug_pccsr *out);
void nvdebug_pccsr_inst_decode(u32 inst, struct nvdebug_instance_place *out);
void nvdebug_chram_decode(u32 channel, struct nvdebug_chram *out);

/* "-" for the one value that has no name. */
const char *nvdebug_channel_status_name(u32 status);

/*
 * Return the word to write to enable or disable a channel if its register reads
 * @old. The chips differ in the bits that trigger an action when they are
 * written back as read: hence a function for Pascal and a function for Volta.
 */
u32 nvdebug_pccsr_enable_word_gk104(u32 old, bool enable);
u32 nvdebug_pccsr_enable_word_gv100(u32 old, bool enable);
u32 nvdebug_chram_enable_word(u32 old, bool enable);

bool nvdebug_pccsr_is_enabled(u32 channel);
bool nvdebug_chram_is_enabled(u32 channel);

#ifdef __cplusplus
}
#endif
#endif
