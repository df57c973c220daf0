/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Reads the context status of an engine or a PBDMA. */
#ifndef NVDEBUG_STATE_ENGINE_STATUS_H
#define NVDEBUG_STATE_ENGINE_STATUS_H

#include <linux/types.h>

struct nvdebug_ctx_status;
struct nvdebug_engine;
struct nvdebug_engine_status;
struct nvdebug_gpu;
struct nvdebug_runlist;

/*
 * Read the status from one register. -EOPNOTSUPP if the engine has no public
 * status register.
 */
int __must_check nvdebug_engine_status_read(struct nvdebug_gpu *gpu,
					    const struct nvdebug_engine *engine,
					    struct nvdebug_engine_status *status);
/* Read the status of PBDMA @n, which is below runlist->pbdmas. */
int __must_check nvdebug_pbdma_status_read(struct nvdebug_gpu *gpu,
					   const struct nvdebug_runlist *runlist,
					   u32 n,
					   struct nvdebug_ctx_status *status);

#endif
