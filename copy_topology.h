/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Copy engines: which logical engines the physical ones work for.
 */
#ifndef NVDEBUG_COPY_TOPOLOGY_H
#define NVDEBUG_COPY_TOPOLOGY_H

#include <linux/types.h>

struct nvdebug_gpu;

struct nvdebug_copy_ops {
	u32 pce_map;	/* mask of the field in PCE_MAP */
	u32 pces;	/* how many PCEs the wiring registers have room for */
	u32 grces;
	u32 lces;	/* whose PCEs these registers are of; 0: all */
	/* One register for all of them if the stride is 0. */
	u32 pce_reg;
	u32 pce_stride;
	u32 grce_reg;
	u32 grce_stride;
	u8 (*pce_lce)(u32 config, u32 pce);
	u8 (*grce_lce)(u32 config, u32 grce);
};

extern const struct nvdebug_view nvdebug_pce_map_view;
extern const struct nvdebug_view nvdebug_pce_lce_view;
extern const struct nvdebug_view nvdebug_grce_lce_view;
extern const struct nvdebug_view nvdebug_copy_topology_view;

/* At creation: find out which PCEs there are. */
void nvdebug_copy_topology_survey(struct nvdebug_gpu *gpu);

/* The number in the name of the @n-th file of its kind; false: no more. */
bool nvdebug_pce_nth(struct nvdebug_gpu *gpu, u32 n, u32 *pce);
bool nvdebug_grce_nth(struct nvdebug_gpu *gpu, u32 n, u32 *grce);

#endif
