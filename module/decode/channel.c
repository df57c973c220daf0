// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/kernel.h>

#include "decode/channel.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"

/* Bits of PCCSR_CHANNEL that act when a one is written to them. */
#define PCCSR_TRIGGERS_GK104 \
	(NV_PCCSR_CHANNEL_FORCE_CTX_RELOAD | NV_PCCSR_CHANNEL_FORCE_PENDING | \
	 NV_PCCSR_CHANNEL_ENABLE_SET | NV_PCCSR_CHANNEL_ENABLE_CLR)
#define PCCSR_TRIGGERS_GV100 \
	(PCCSR_TRIGGERS_GK104 | \
	 NV_PCCSR_CHANNEL_FORCE_PBDMA_FAULTED | \
	 NV_PCCSR_CHANNEL_FORCE_ENG_FAULTED | \
	 NV_PCCSR_CHANNEL_PBDMA_FAULTED | NV_PCCSR_CHANNEL_ENG_FAULTED)

void nvdebug_pccsr_decode(u32 channel, struct nvdebug_pccsr *out)
{
	out->enabled = channel & NV_PCCSR_CHANNEL_ENABLE;
	out->next = channel & NV_PCCSR_CHANNEL_NEXT;
	out->force_ctx_reload = channel & NV_PCCSR_CHANNEL_FORCE_CTX_RELOAD;
	out->enable_set = channel & NV_PCCSR_CHANNEL_ENABLE_SET;
	out->enable_clear = channel & NV_PCCSR_CHANNEL_ENABLE_CLR;
	out->pbdma_faulted = channel & NV_PCCSR_CHANNEL_PBDMA_FAULTED;
	out->eng_faulted = channel & NV_PCCSR_CHANNEL_ENG_FAULTED;
	out->busy = channel & NV_PCCSR_CHANNEL_BUSY;
	out->status = FIELD_GET(NV_PCCSR_CHANNEL_STATUS, channel);
}

void nvdebug_pccsr_inst_decode(u32 inst, struct nvdebug_instance_place *out)
{
	out->addr = (u64)FIELD_GET(NV_PCCSR_CHANNEL_INST_PTR, inst) << 12;
	out->aperture = FIELD_GET(NV_PCCSR_CHANNEL_INST_TARGET, inst);
	out->bound = inst & NV_PCCSR_CHANNEL_INST_BIND;
}

/*
 * CHRAM has separate bits where PCCSR has one number. PENDING with ACQUIRE_FAIL
 * is PCCSR's "pending acquire" (as in linux-nvgpu
 * hal/fifo/channel_ga10b_fusa.c). PCCSR has no number for a reload without
 * pending work, nor for pending while on a PBDMA: the name then omits these
 * bits.
 */
static u8 chram_status(const struct nvdebug_chram *c)
{
	bool reload = c->ctx_reload;
	bool acquire = c->acquire_fail;

	if (c->on_pbdma && c->on_eng)
		return reload ? NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_AND_ENG_CTX_RELOAD :
				NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_AND_ENG;
	if (c->on_pbdma)
		return reload ? NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_CTX_RELOAD :
				NV_PCCSR_CHANNEL_STATUS_ON_PBDMA;
	if (c->on_eng && c->pending) {
		if (acquire)
			return reload ? NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING_ACQ_CTX_RELOAD :
					NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING_ACQUIRE;
		return reload ? NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING_CTX_RELOAD :
				NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING;
	}
	if (c->on_eng)
		return reload ? NV_PCCSR_CHANNEL_STATUS_ON_ENG_CTX_RELOAD :
				NV_PCCSR_CHANNEL_STATUS_ON_ENG;
	if (!c->pending)
		return NV_PCCSR_CHANNEL_STATUS_IDLE;
	if (acquire)
		return reload ? NV_PCCSR_CHANNEL_STATUS_PENDING_ACQ_CTX_RELOAD :
				NV_PCCSR_CHANNEL_STATUS_PENDING_ACQUIRE;
	return reload ? NV_PCCSR_CHANNEL_STATUS_PENDING_CTX_RELOAD :
			NV_PCCSR_CHANNEL_STATUS_PENDING;
}

void nvdebug_chram_decode(u32 channel, struct nvdebug_chram *out)
{
	out->enabled = channel & NV_CHRAM_CHANNEL_ENABLE;
	out->next = channel & NV_CHRAM_CHANNEL_NEXT;
	out->busy = channel & NV_CHRAM_CHANNEL_BUSY;
	out->pbdma_faulted = channel & NV_CHRAM_CHANNEL_PBDMA_FAULTED;
	out->eng_faulted = channel & NV_CHRAM_CHANNEL_ENG_FAULTED;
	out->on_pbdma = channel & NV_CHRAM_CHANNEL_ON_PBDMA;
	out->on_eng = channel & NV_CHRAM_CHANNEL_ON_ENG;
	out->pending = channel & NV_CHRAM_CHANNEL_PENDING;
	out->ctx_reload = channel & NV_CHRAM_CHANNEL_CTX_RELOAD;
	out->pbdma_busy = channel & NV_CHRAM_CHANNEL_PBDMA_BUSY;
	out->eng_busy = channel & NV_CHRAM_CHANNEL_ENG_BUSY;
	out->acquire_fail = channel & NV_CHRAM_CHANNEL_ACQUIRE_FAIL;
	out->status = chram_status(out);
}

const char *nvdebug_channel_status_name(u32 status)
{
	static const char * const names[] = {
		"IDLE",
		"PENDING",
		"PENDING_CTX_RELOAD",
		"PENDING_ACQUIRE",
		"PENDING_ACQ_CTX_RELOAD",
		"ON_PBDMA",
		"ON_PBDMA_AND_ENG",
		"ON_ENG",
		"ON_ENG_PENDING_ACQUIRE",
		"ON_ENG_PENDING",
		"ON_PBDMA_CTX_RELOAD",
		"ON_PBDMA_AND_ENG_CTX_RELOAD",
		"ON_ENG_CTX_RELOAD",
		"ON_ENG_PENDING_CTX_RELOAD",
		"ON_ENG_PENDING_ACQ_CTX_RELOAD",
	};

	return status < ARRAY_SIZE(names) ? names[status] : "-";
}

static u32 pccsr_enable_word(u32 old, u32 triggers, bool enable)
{
	return (old & ~triggers) | (enable ? NV_PCCSR_CHANNEL_ENABLE_SET :
					     NV_PCCSR_CHANNEL_ENABLE_CLR);
}

u32 nvdebug_pccsr_enable_word_gk104(u32 old, bool enable)
{
	return pccsr_enable_word(old, PCCSR_TRIGGERS_GK104, enable);
}

u32 nvdebug_pccsr_enable_word_gv100(u32 old, bool enable)
{
	return pccsr_enable_word(old, PCCSR_TRIGGERS_GV100, enable);
}

/*
 * Return the word to write. The hardware changes only the bits that are set, so
 * @old is not used.
 */
u32 nvdebug_chram_enable_word(u32 old, bool enable)
{
	return enable ? NV_CHRAM_CHANNEL_UPDATE_ENABLE_CHANNEL :
			NV_CHRAM_CHANNEL_UPDATE_DISABLE_CHANNEL;
}

bool nvdebug_pccsr_is_enabled(u32 channel)
{
	return channel & NV_PCCSR_CHANNEL_ENABLE;
}

bool nvdebug_chram_is_enabled(u32 channel)
{
	return channel & NV_CHRAM_CHANNEL_ENABLE;
}
