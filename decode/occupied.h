/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Whether somebody can still be on a PBDMA or an engine, by its status.
 */
#ifndef NVDEBUG_DECODE_OCCUPIED_H
#define NVDEBUG_DECODE_OCCUPIED_H

#include <linux/types.h>

#include "decode/engine_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whom to look for: TSGs, or channels outside of any. */
typedef bool (*nvdebug_counts_fn)(const void *who, bool is_tsg, u32 id);

/*
 * False if nobody that counts is on it or is about to be. Both follow what
 * NVIDIA does after a preempt: linux-nvgpu hal/fifo/preempt_gv11b_fusa.c for
 * PBDMAs, the table in open-gpu-doc manuals/volta/gv100/dev_fifo.ref.txt for
 * engines, of which one that switches may yet be anybody's.
 */
bool nvdebug_pbdma_is_occupied(const struct nvdebug_ctx_status *status,
			       nvdebug_counts_fn counts, const void *who);
bool nvdebug_engine_is_occupied(const struct nvdebug_ctx_status *status,
				nvdebug_counts_fn counts, const void *who);

#ifdef __cplusplus
}
#endif
#endif
