/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Unit counts of the chip's design, and masks of disabled units. */
#ifndef NVDEBUG_CORE_GEOMETRY_H
#define NVDEBUG_CORE_GEOMETRY_H

#include <linux/types.h>

enum nvdebug_count {
	NVDEBUG_NUM_GPCS,
	NVDEBUG_NUM_TPC_PER_GPC,
	NVDEBUG_NUM_CES,
	NVDEBUG_NUM_FBPS,
	NVDEBUG_NUM_LTCS,
	NVDEBUG_COUNTS
};

#define NVDEBUG_GPCS_MAX	32

/* A value, or the error of reading its register. */
struct nvdebug_number {
	u32 value;
	int error;
};

struct nvdebug_geometry {
	struct nvdebug_number count[NVDEBUG_COUNTS];
	/* A set bit: the GPC is disabled. */
	struct nvdebug_number gpc_mask;
	struct nvdebug_number tpc_mask[NVDEBUG_GPCS_MAX];	/* by physical GPC */
};

#endif
