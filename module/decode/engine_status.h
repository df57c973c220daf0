/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Decodes the status register of an engine or a PBDMA: its current and next
 * context.
 */
#ifndef NVDEBUG_DECODE_ENGINE_STATUS_H
#define NVDEBUG_DECODE_ENGINE_STATUS_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * States of a context. Their encoding in the registers differs between chips.
 */
enum nvdebug_ctx_state {
	NVDEBUG_CTX_INVALID,	/* none */
	NVDEBUG_CTX_VALID,	/* owner */
	NVDEBUG_CTX_LOAD,	/* none, loading next */
	NVDEBUG_CTX_SAVE,	/* saving owner, no next */
	NVDEBUG_CTX_SWITCH,	/* from owner to next */
	NVDEBUG_CTX_UNDEFINED,
};

/* A TSG, or a channel outside of a TSG. */
struct nvdebug_ctx_owner {
	bool there;
	bool is_tsg;
	u16 id;
};

struct nvdebug_ctx_status {
	u8 state;		/* enum nvdebug_ctx_state */
	u8 code;		/* the hardware's code of the state */
	struct nvdebug_ctx_owner owner;	/* current context's owner */
	struct nvdebug_ctx_owner next;
};

struct nvdebug_engine_status {
	struct nvdebug_ctx_status ctx;
	bool busy;
	bool faulted;	/* up to Turing: valid for copy engines only */
	bool reload;
};

/* Return a name such as "valid"; NULL for NVDEBUG_CTX_UNDEFINED. */
const char *nvdebug_ctx_state_name(enum nvdebug_ctx_state state);

/*
 * Decode a status register: PFIFO's up to Turing, a runlist's or PBDMA's from
 * Ampere on.
 */
void nvdebug_engine_status_gk104(u32 word, struct nvdebug_engine_status *out);
void nvdebug_engine_status_ga100(u32 word, struct nvdebug_engine_status *out);
void nvdebug_pbdma_status_gk104(u32 word, struct nvdebug_ctx_status *out);
void nvdebug_pbdma_status_ga100(u32 word, struct nvdebug_ctx_status *out);

#ifdef __cplusplus
}
#endif
#endif
