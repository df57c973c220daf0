/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Modes in which a GPU is not what the other files take it for: partitioned
 * (MIG), or closed to the CPU (confidential computing).
 */
#ifndef NVDEBUG_MODES_H
#define NVDEBUG_MODES_H

#include <linux/types.h>

struct nvdebug_gpu;

/* The bits that say that a mode is on: any of them. */
struct nvdebug_mode_ops {
	struct {
		u32 reg;	/* 0: there is no more */
		u32 on;
	} bit[2];
};

extern const struct nvdebug_mode_ops nvdebug_mig_ga100;
extern const struct nvdebug_mode_ops nvdebug_mig_gh100;
extern const struct nvdebug_mode_ops nvdebug_cc_gh100;
extern const struct nvdebug_mode_ops nvdebug_cc_gb100;

enum nvdebug_mode {
	NVDEBUG_MODE_NONE,	/* the chip has no such mode */
	NVDEBUG_MODE_UNKNOWN,
	NVDEBUG_MODE_OFF,
	NVDEBUG_MODE_ON,
};

struct nvdebug_modes {
	enum nvdebug_mode mig;
	enum nvdebug_mode cc;
};

const char *nvdebug_mode_name(enum nvdebug_mode mode);
/* Read those of gpu->chip. Returns why the GPU is to be left alone, or NULL. */
const char *nvdebug_modes_read(struct nvdebug_gpu *gpu,
			       struct nvdebug_modes *modes);

#endif
