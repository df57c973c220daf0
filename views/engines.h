/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Who is running now: the status of engines and of the PBDMAs that feed them.
 */
#ifndef NVDEBUG_ENGINES_H
#define NVDEBUG_ENGINES_H

#include <linux/types.h>

struct nvdebug_ctx_status;
struct nvdebug_engine;
struct nvdebug_engine_status;
struct nvdebug_gpu;
struct nvdebug_pbdma;
struct nvdebug_runlist;

struct nvdebug_status_ops {
	/* 0: not public */
	u32 (*engine_reg)(const struct nvdebug_gpu *gpu,
			  const struct nvdebug_engine *engine);
	u32 (*pbdma_reg)(const struct nvdebug_pbdma *pbdma);
	/* The channel from the @n-th PBDMA of its runlist; 0: does not tell. */
	u32 (*channel_reg)(const struct nvdebug_gpu *gpu,
			   const struct nvdebug_engine *engine, u32 n);
	void (*engine)(u32 word, struct nvdebug_engine_status *out);
	void (*pbdma)(u32 word, struct nvdebug_ctx_status *out);
	/* The bit of a PBDMA's CHANNEL that says so; 0: the status has to do. */
	u32 pbdma_channel_valid;
	bool faults_of_all;	/* or only of copy engines? */
};

extern const struct nvdebug_status_ops nvdebug_status_gk104;
extern const struct nvdebug_status_ops nvdebug_status_ga100;

extern const struct nvdebug_view nvdebug_engines_view;

/*
 * One register read each. -EOPNOTSUPP if it is not public where the engine's
 * status is.
 */
int __must_check nvdebug_engine_status_read(struct nvdebug_gpu *gpu,
					    const struct nvdebug_engine *engine,
					    struct nvdebug_engine_status *status);
/* @n: below runlist->pbdmas */
int __must_check nvdebug_pbdma_status_read(struct nvdebug_gpu *gpu,
					   const struct nvdebug_runlist *runlist,
					   u32 n,
					   struct nvdebug_ctx_status *status);

#endif
