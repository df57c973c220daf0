// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "decode/engine_status.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"

/*
 * Return the state. The codes of LOAD and SAVE were swapped between Turing and
 * Ampere.
 */
static u8 state_of(u32 code, u32 load, u32 save)
{
	if (code == load)
		return NVDEBUG_CTX_LOAD;
	if (code == save)
		return NVDEBUG_CTX_SAVE;
	switch (code) {
	case NV_PFIFO_CTX_STATUS_INVALID:
		return NVDEBUG_CTX_INVALID;
	case NV_PFIFO_CTX_STATUS_VALID:
		return NVDEBUG_CTX_VALID;
	case NV_PFIFO_CTX_STATUS_SWITCH:
		return NVDEBUG_CTX_SWITCH;
	default:
		return NVDEBUG_CTX_UNDEFINED;
	}
}

const char *nvdebug_ctx_state_name(enum nvdebug_ctx_state state)
{
	static const char * const names[] = {
		[NVDEBUG_CTX_INVALID] = "invalid",
		[NVDEBUG_CTX_VALID] = "valid",
		[NVDEBUG_CTX_LOAD] = "load",
		[NVDEBUG_CTX_SAVE] = "save",
		[NVDEBUG_CTX_SWITCH] = "switch",
	};

	return state < ARRAY_SIZE(names) ? names[state] : NULL;
}

/*
 * Decode a status. All of these registers have the status and the two ids in
 * the same fields, and the status determines which ids are valid.
 */
static void decode_ctx(u32 word, u32 load, u32 save,
		       struct nvdebug_ctx_status *out)
{
	memset(out, 0, sizeof(*out));
	out->code = FIELD_GET(NV_PFIFO_STATUS_CTX_STATUS, word);
	out->state = state_of(out->code, load, save);
	out->owner.there = out->state == NVDEBUG_CTX_VALID ||
			     out->state == NVDEBUG_CTX_SAVE ||
			     out->state == NVDEBUG_CTX_SWITCH;
	out->next.there = out->state == NVDEBUG_CTX_LOAD ||
			  out->state == NVDEBUG_CTX_SWITCH;
	if (out->owner.there)
		out->owner.id = FIELD_GET(NV_PFIFO_STATUS_ID, word);
	if (out->next.there)
		out->next.id = FIELD_GET(NV_PFIFO_STATUS_NEXT_ID, word);
}

void nvdebug_pbdma_status_gk104(u32 word, struct nvdebug_ctx_status *out)
{
	decode_ctx(word, NV_PFIFO_CTX_STATUS_LOAD, NV_PFIFO_CTX_STATUS_SAVE, out);
	out->owner.is_tsg = out->owner.there &&
			      word & NV_PFIFO_STATUS_ID_TYPE_TSG;
	out->next.is_tsg = out->next.there &&
			   word & NV_PFIFO_STATUS_NEXT_ID_TYPE_TSG;
}

/* From Ampere on every channel is in a TSG. */
void nvdebug_pbdma_status_ga100(u32 word, struct nvdebug_ctx_status *out)
{
	decode_ctx(word, NV_RUNLIST_CTX_STATUS_LOAD, NV_RUNLIST_CTX_STATUS_SAVE,
		   out);
	out->owner.is_tsg = out->owner.there;
	out->next.is_tsg = out->next.there;
}

static void decode_flags(u32 word, struct nvdebug_engine_status *out)
{
	out->reload = word & NV_PFIFO_ENGINE_STATUS_ENG_RELOAD;
	out->faulted = word & NV_PFIFO_ENGINE_STATUS_FAULTED;
	out->busy = word & NV_PFIFO_ENGINE_STATUS_ENGINE;
}

void nvdebug_engine_status_gk104(u32 word, struct nvdebug_engine_status *out)
{
	nvdebug_pbdma_status_gk104(word, &out->ctx);
	decode_flags(word, out);
}

void nvdebug_engine_status_ga100(u32 word, struct nvdebug_engine_status *out)
{
	nvdebug_pbdma_status_ga100(word, &out->ctx);
	decode_flags(word, out);
}
