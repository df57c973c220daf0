/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Decides from a status whether a PBDMA or an engine can still have a given
 * context.
 */
#ifndef NVDEBUG_DECODE_OCCUPIED_H
#define NVDEBUG_DECODE_OCCUPIED_H

#include <linux/types.h>

#include "decode/engine_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return whether to look for this TSG, or channel outside of a TSG. */
typedef bool (*nvdebug_match_fn)(const void *data, bool is_tsg, u32 id);

/*
 * Return false if no context that @match accepts is on the unit or about to be
 * loaded. Both functions follow what NVIDIA does after a preempt: linux-nvgpu
 * hal/fifo/preempt_gv11b_fusa.c for PBDMAs, the table in open-gpu-doc
 * manuals/volta/gv100/dev_fifo.ref.txt for engines, where a switch may be to
 * any context.
 */
bool nvdebug_pbdma_is_occupied(const struct nvdebug_ctx_status *status,
			       nvdebug_match_fn match, const void *data);
bool nvdebug_engine_is_occupied(const struct nvdebug_ctx_status *status,
				nvdebug_match_fn match, const void *data);

#ifdef __cplusplus
}
#endif
#endif
